// npm run admin -- user …: the people who sign in to the portal.

import { type Role, roles } from '../../access/caller.ts'
import { createUser, disableUser, listUsers, resetPassword, type User } from '../../identity/users.ts'
import { type CommandResult, UsageError } from '../../lib/command.ts'
import { type AdminCall, type AdminCommand, listing, mustBeNone, needed, theOne } from './command.ts'

export const userCreate: AdminCommand = {
  name: 'user create',
  usage: '--email EMAIL --organization NAME [--role ROLE]',
  summary: 'Creates a user of the portal, and shows the password once',
  details: '',
  options: {
    email: { value: 'EMAIL', meaning: 'by which the user signs in' },
    organization: { value: 'NAME', meaning: 'the organization that the user belongs to' },
    role: { value: 'ROLE', meaning: `${roles.join(', ')}; developer if left out` },
  },
  async run(call) {
    mustBeNone(call)
    const { user, password } = await createUser(call.database, {
      email: needed(call, 'email'),
      organizationId: needed(call, 'organization'),
      role: roleOf(call),
    })
    return credentials(user.email, password, plain(user))
  },
}

export const userResetPassword: AdminCommand = {
  name: 'user reset-password',
  usage: 'EMAIL',
  summary: 'Gives a user of the portal a new password, shows it once, and ends every session',
  details: '',
  options: {},
  async run(call) {
    const email = theOne(call, 'user')
    return credentials(email, await resetPassword(call.database, email), {})
  },
}

function credentials(email: string, password: string, more: object): CommandResult {
  const rows = [
    ['email', email],
    ['password', password],
  ] as const
  return {
    isGood: true,
    text: listing(rows),
    notes: 'The password is shown this once: only a hash of it is kept.\n',
    json: { ...more, email, password },
  }
}

/** @throws UsageError for what is no role. */
function roleOf({ text }: AdminCall): Role {
  const given = text('role') ?? 'developer'
  const role = roles.find(each => each === given)
  if (role) return role
  throw new UsageError(`there is no role ${given}; there are ${roles.join(', ')}`)
}

export const userList: AdminCommand = {
  name: 'user list',
  usage: '',
  summary: 'Lists all users of the portal',
  details: '',
  options: {},
  async run(call) {
    mustBeNone(call)
    const users = await listUsers(call.database)
    return {
      isGood: true,
      text: users.map(described).join('\n') || 'There are no users.\n',
      json: { users: users.map(plain) },
    }
  },
}

export const userDisable: AdminCommand = {
  name: 'user disable',
  usage: 'EMAIL',
  summary: 'Ends a user of the portal for good, and every session at once',
  details: '',
  options: {},
  async run(call) {
    const email = theOne(call, 'user')
    const sessions = await disableUser(call.database, email)
    return {
      isGood: true,
      text: `${email} is disabled; sessions ended: ${sessions}.\n`,
      json: { email, disabled: true, sessions_ended: sessions },
    }
  },
}

const plain = (user: User) => ({
  user_id: user.id,
  email: user.email,
  organization_id: user.organizationId,
  role: user.role,
  created_at: user.createdAt,
  disabled_at: user.disabledAt ?? null,
})

const described = (user: User): string =>
  listing([
    ['email', user.email],
    ['user_id', user.id],
    ['organization', user.organizationId],
    ['role', user.role],
    ['created', user.createdAt.toISOString()],
    ...(user.disabledAt ? [['disabled', user.disabledAt.toISOString()] as const] : []),
  ])
