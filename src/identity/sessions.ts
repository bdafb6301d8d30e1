// Sessions of the portal (SessionAuth, interface §5): begun with a password, identified by a cookie, ended by their
// user, by time, or when the user is disabled.

import { type Role, type UserCaller, userCaller } from '../access/caller.ts'
import type { Credentials } from '../access/scheme.ts'
import type { Database } from '../db/database.ts'
import { Failure } from '../lib/failure.ts'
import { uuidv7 } from '../lib/ids.ts'
import { asAct } from '../store/recording.ts'
import { mustBeSameOrigin, sessionCookie, sessionIn } from './cookies.ts'
import { digestOf, newOpaque } from './opaque.ts'
import type { Checker } from './secrets.ts'
import { type Throttle, tried } from './throttle.ts'
import { findUser, foldEmail, type User } from './users.ts'

/** Seconds that a session lives at most, and without being used. */
const lifetime = 12 * 3600
const idleFor = 30 * 60

/** Sessions of one user at a time; one more ends the oldest. */
const mostSessions = 20

/** A new session: `cookie` is returned once. */
interface BegunSession {
  readonly cookie: string
  readonly caller: UserCaller
}

export interface Sessions {
  /** Seconds that a session lives at most. */
  readonly lifetime: number
  /**
   * Begins a session under a new id, which the audit trail records, as it does a wrong pair.
   * @throws Failure UNAUTHENTICATED for any wrong pair, AUTH_THROTTLED after too many, UNAVAILABLE when too many wait.
   */
  begin(given: { email: string; password: string; address: string; requestId: string }): Promise<BegunSession>
  /**
   * Authenticates a user by the session cookie. @throws Failure UNAUTHENTICATED, TOKEN_EXPIRED; FORBIDDEN for pages of
   * other origins.
   */
  authenticate(credentials: Pick<Credentials, 'headers' | 'method' | 'baseUrl'>): Promise<UserCaller>
  end(caller: UserCaller): Promise<void>
}

/** An attempt to sign in, as the audit trail records it. */
export interface SignIn {
  /** `user/…`; empty if nobody has the e-mail address. */
  readonly clientId: string
  readonly organizationId: string
  /** The session that began; empty if none did. */
  readonly tokenId: string
  readonly address: string
  readonly requestId: string
  /** Why it was refused. */
  readonly failure: Failure | undefined
}

export interface SessionsParts {
  readonly database: Database
  readonly checker: Checker
  readonly throttle: Throttle
  /** Records an attempt to sign in. @throws Failure UNAVAILABLE */
  readonly record: (attempt: SignIn) => Promise<void>
  readonly now: () => number
}

export function createSessions(parts: SessionsParts): Sessions {
  const { database, now } = parts
  return {
    lifetime,
    async begin({ email, password, address, requestId }) {
      const attempt = { address, requestId }
      const { user, isRight } = await tryToSignIn(parts, foldEmail(email), password, address)
      if (!user || !isRight) {
        const failure = refused('UNAUTHENTICATED', 'The e-mail address or the password is wrong.')
        const who = { clientId: user ? `user/${user.id}` : '', organizationId: user?.organizationId ?? '', tokenId: '' }
        await parts.record({ ...attempt, ...who, failure })
        throw failure
      }
      const cookie = newOpaque('')
      const caller = userCaller(user, uuidv7())
      const time = new Date(now())
      const expiresAt = new Date(now() + lifetime * 1000)
      await database.query({
        text: `insert into portal_session (hash, id, user_id, address, created_at, last_seen_at, expires_at)
          values ($1, $2, $3, $4, $5, $5, $6)`,
        values: [digestOf(cookie), caller.tokenId, user.id, address, time, expiresAt],
      })
      await endOldest(database, user.id, time)
      const { clientId, organizationId, tokenId } = caller
      await parts.record({ ...attempt, clientId, organizationId, tokenId, failure: undefined })
      return { cookie, caller }
    },
    async authenticate(credentials) {
      mustBeSameOrigin(credentials)
      const cookie = sessionIn(credentials.headers)
      if (cookie === undefined)
        throw refused(
          'UNAUTHENTICATED',
          `Sign in with POST /api/v1/portal/session and send the cookie ${sessionCookie}.`,
        )
      const row = await sessionRow(database, cookie)
      if (!row) throw refused('UNAUTHENTICATED', 'The session does not exist: sign in again.')
      if (row.expires_at.getTime() <= now() || row.last_seen_at.getTime() <= now() - idleFor * 1000)
        throw refused('TOKEN_EXPIRED', 'The session has ended: sign in again.')
      if (row.last_seen_at.getTime() <= now() - 60_000) await seen(database, row.session, now())
      return userCaller({ ...row, organizationId: row.organization_id }, row.session)
    },
    async end(caller) {
      await asAct(database, caller, { deed: 'logout', patients: [], resources: 0 }, async within => {
        await within.query({ text: 'delete from portal_session where id = $1', values: [caller.tokenId] })
        return true
      })
    },
  }
}

/** Returns the user of an address, and whether this is the password. An unknown user costs one hash as well. */
async function tryToSignIn(
  { database, checker, throttle }: SessionsParts,
  email: string,
  password: string,
  address: string,
): Promise<{ user: User | undefined; isRight: boolean }> {
  let user: User | undefined
  const right = await tried(throttle(email, address), async () => {
    const found = await findUser(database, email)
    user = found?.user
    return checker.find(password, found ? [{ id: 1, hash: found.hash }] : [])
  })
  return { user, isRight: right !== undefined }
}

interface SessionRow {
  readonly session: string
  readonly id: string
  readonly email: string
  readonly organization_id: string
  readonly roles: readonly Role[]
  readonly last_seen_at: Date
  readonly expires_at: Date
}

async function sessionRow(database: Database, cookie: string): Promise<SessionRow | undefined> {
  const [row] = await database.query<SessionRow>({
    name: 'portal-session',
    isFixed: true,
    text: `select s.id as session, u.id, u.email, u.organization_id, u.roles, s.last_seen_at, s.expires_at
      from portal_session s join portal_user u on u.id = s.user_id
      where s.hash = $1 and u.disabled_at is null`,
    values: [digestOf(cookie)],
  })
  return row
}

async function endOldest(database: Database, userId: string, now: Date): Promise<void> {
  await database.query({
    text: `delete from portal_session where user_id = $1 and (expires_at <= $2 or hash in (
      select hash from portal_session where user_id = $1 order by created_at desc, id desc offset ${mostSessions}))`,
    values: [userId, now],
  })
}

async function seen(database: Database, session: string, now: number): Promise<void> {
  await database.query({
    text: 'update portal_session set last_seen_at = greatest(last_seen_at, $2) where id = $1',
    values: [session, new Date(now)],
  })
}

const refused = (code: 'UNAUTHENTICATED' | 'TOKEN_EXPIRED', message: string): Failure =>
  new Failure(code, message, {
    headers: { 'www-authenticate': `Cookie realm="health-interop", cookie-name="${sessionCookie}"` },
  })
