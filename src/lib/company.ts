// Whether a client has the service to itself: limits that leave room for other clients apply only while there are some.

export interface Company {
  /** Notes a request of a client. */
  note(who: string): void
  /** True if no other client has sent a request in the last second. */
  isAlone(who: string): boolean
}

/** Milliseconds for which a client counts as there after its last request. */
const stay = 1000

/** The company of a process that answers only some of the requests, and so does not see which clients are there. */
export const unseenCompany: Company = { note() {}, isAlone: () => false }

interface Guest {
  readonly who: string
  readonly at: number
}

/** The company of one process. @param now milliseconds of any clock that never goes back */
export function createCompany(now: () => number = () => performance.now()): Company {
  let last: Guest | undefined
  /** The last one before it that is another client. */
  let before: Guest | undefined
  return {
    note(who) {
      if (last?.who !== who) before = last
      last = { who, at: now() }
    },
    isAlone(who) {
      const other = last?.who === who ? before : last
      return other === undefined || now() - other.at > stay
    },
  }
}
