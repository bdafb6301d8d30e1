// Users of the portal: administration, and the lookup of a sign-in.

import type { Role } from '../access/caller.ts'
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { randomText } from '../lib/ids.ts'
import { argon2id, newRecipe, toPhc } from './argon2.ts'
import { mustBeResourceId } from './resource-id.ts'

export interface User {
  readonly id: string
  /** Folded. */
  readonly email: string
  readonly organizationId: string
  readonly roles: readonly Role[]
  readonly createdAt: Date
  readonly disabledAt?: Date
}

// The server that delivers to it decides about the rest of an address; PostgreSQL cannot hold NUL.
const isEmail = /^[^\s@\0]{1,64}@[^\s@\0]{1,189}$/

/** Folds an address: two addresses that differ in capitals only count as the same. */
export const foldEmail = (email: string): string => email.trim().normalize('NFKC').toLowerCase()

/**
 * Creates a user with a password that is returned once.
 * @throws Failure VALIDATION_FAILED for what is no address, or an organization that is no id; CONFLICT if there is a user with it.
 */
export async function createUser(
  database: Database,
  input: {
    readonly email: string
    readonly organizationId: string
    readonly roles: readonly Role[]
    /** Absent: a new one, at random. */
    readonly password?: string
  },
): Promise<{ user: User; password: string }> {
  const email = foldEmail(input.email)
  if (!isEmail.test(email))
    throw new Failure('VALIDATION_FAILED', `${input.email.slice(0, 254)} is not an e-mail address.`)
  mustBeResourceId(input.organizationId, 'organization')
  const { password, hash } = await hashed(input.password ?? randomText(22))
  const [row] = await database.query<UserRow>({
    text: `insert into portal_user (id, email, hash, organization_id, roles) values ($1, $2, $3, $4, $5)
      on conflict (email) do nothing returning ${columns}`,
    values: [`usr_${randomText(20)}`, email, hash, input.organizationId, [...new Set(input.roles)].sort()],
  })
  if (!row) throw new Failure('CONFLICT', `A user ${email} already exists.`)
  return { user: toUser(row), password }
}

/** Returns a password with the hash that is stored. One at random has 22 symbols, 130 bits. */
async function hashed(password: string): Promise<{ password: string; hash: string }> {
  const recipe = newRecipe()
  return { password, hash: toPhc(recipe, await argon2id(password, recipe)) }
}

/**
 * Gives a user a new password, and ends all of the user's sessions.
 * @throws Failure NOT_FOUND if there is no such user, or the user is disabled.
 */
export async function resetPassword(database: Database, email: string): Promise<string> {
  const { password, hash } = await hashed(randomText(22))
  await database.transaction(async on => {
    const [row] = await on.query<{ id: string }>({
      text: 'update portal_user set hash = $2 where email = $1 and disabled_at is null returning id',
      values: [foldEmail(email), hash],
    })
    if (!row) throw new Failure('NOT_FOUND', `There is no active user ${foldEmail(email).slice(0, 254)}.`)
    await endSessions(on, row.id)
  })
  return password
}

/** Returns every user, oldest first. */
export async function listUsers(database: Database): Promise<User[]> {
  const rows = await database.query<UserRow>({
    text: `select ${columns} from portal_user order by created_at, id`,
    values: [],
  })
  return rows.map(toUser)
}

/**
 * Disables a user permanently, and ends all of the user's sessions at once.
 * @returns the number of sessions ended.
 * @throws Failure NOT_FOUND.
 */
export function disableUser(database: Database, email: string): Promise<number> {
  return database.transaction(async on => {
    const [row] = await on.query<{ id: string }>({
      text: 'update portal_user set disabled_at = coalesce(disabled_at, now()) where email = $1 returning id',
      values: [foldEmail(email)],
    })
    if (!row) throw new Failure('NOT_FOUND', `There is no user ${foldEmail(email).slice(0, 254)}.`)
    return endSessions(on, row.id)
  })
}

/** Ends the sessions of a user. @returns the number of sessions ended. */
async function endSessions(on: Queryable, userId: string): Promise<number> {
  const ended = await on.query({
    text: 'delete from portal_session where user_id = $1 returning 1 as ended',
    values: [userId],
  })
  return ended.length
}

/** Returns the user that may sign in with an address, with the hash of the password. */
export async function findUser(on: Queryable, email: string): Promise<{ user: User; hash: string } | undefined> {
  const folded = foldEmail(email)
  if (!isEmail.test(folded)) return undefined
  const [row] = await on.query<UserRow & { hash: string }>({
    name: 'portal-user',
    isFixed: true,
    text: `select ${columns}, hash from portal_user where email = $1 and disabled_at is null`,
    values: [folded],
  })
  return row && { user: toUser(row), hash: row.hash }
}

const columns = 'id, email, organization_id, roles, created_at, disabled_at'

interface UserRow {
  readonly id: string
  readonly email: string
  readonly organization_id: string
  readonly roles: readonly Role[]
  readonly created_at: Date
  readonly disabled_at: Date | null
}

function toUser(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    organizationId: row.organization_id,
    roles: row.roles,
    createdAt: row.created_at,
    disabledAt: row.disabled_at ?? undefined,
  }
}
