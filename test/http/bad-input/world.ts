// What is known when requests are made: who calls, what proves him, and what is stored.
import type { Operation } from './description.ts'
import type { Pool } from './values.ts'

/** Who sends a request. */
export type CallerKind = 'exempt' | 'client' | 'scopeless' | 'nobody' | 'patient' | 'user' | 'secret'

export interface Sent {
  readonly method: string
  /** Path and query, as they go on the wire. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
  readonly caller: CallerKind
  /** True if the address or method may well lead to another operation, or to none. */
  readonly isStray: boolean
}

/** The headers by which a caller proves himself. */
export type Proofs = Readonly<Record<CallerKind, Readonly<Record<string, string>>>>

export interface World {
  /** Of the resource that the path names. */
  readonly type?: string
  readonly id?: string
  readonly pool: Pool
  readonly proofs: Proofs
  /** Names of search parameters, and of resource types. */
  readonly searchNames: readonly string[]
}

const rightful: Readonly<Record<string, readonly CallerKind[]>> = {
  BearerAuth: ['exempt', 'client'],
  ClientBasic: ['secret'],
  MobileToken: ['patient'],
  SessionAuth: ['user'],
}

export const everybody: readonly CallerKind[] = ['exempt', 'client', 'scopeless', 'nobody', 'patient', 'user', 'secret']

/** The callers whom the operation may let in. */
export function mayCall({ schemes, scopes }: Operation): readonly CallerKind[] {
  if (schemes.length === 0) return everybody
  const may = schemes.flatMap(scheme => rightful[scheme] ?? [])
  return schemes.includes('BearerAuth') && scopes.length === 0 ? [...may, 'scopeless'] : may
}
