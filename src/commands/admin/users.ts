// npm run admin -- user …: the people who sign in to the portal.

import { type Role, roles } from '../../access/caller.ts'
import { createUser, disableUser, listUsers, resetPassword, type User } from '../../identity/users.ts'
import { type CommandResult, UsageError } from '../../lib/command.ts'
import { type AdminCall, type AdminCommand, listing, mustBeNone, needed, theOne } from './command.ts'

export const userCreate: AdminCommand = {
  name: 'user create',
  usage: '--email EMAIL --organization ID [--role ROLE …]',
  summary: 'Create a portal user and show the password once',
  details: '',
  options: {
    email: { value: 'EMAIL', meaning: 'the e-mail address for signing in' },
    organization: { value: 'ID', meaning: 'the id of the organization of the user, as in Organization/ID' },
    role: { value: 'ROLE', repeats: true, meaning: `${roles.join(', ')}; several are possible (default developer)` },
  },
  async run(call) {
    mustBeNone(call)
    const { user, password } = await createUser(call.database, {
      email: needed(call, 'email'),
      organizationId: needed(call, 'organization'),
      roles: rolesOf(call),
    })
    return credentials(user.email, password, plain(user))
  },
}

export const userResetPassword: AdminCommand = {
  name: 'user reset-password',
  usage: 'EMAIL',
  summary: 'Reset the password of a portal user, show it once and end all sessions',
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
    notes: 'The password is shown only once: the service stores only its hash.\n',
    json: { ...more, email, password },
  }
}

/** @throws UsageError for what is no role. */
function rolesOf({ texts }: AdminCall): Role[] {
  const given = texts('role')
  return (given.length > 0 ? given : ['developer']).map(name => {
    const role = roles.find(each => each === name)
    if (role) return role
    throw new UsageError(`there is no role ${name}; the roles are ${roles.join(', ')}`)
  })
}

export const userList: AdminCommand = {
  name: 'user list',
  usage: '',
  summary: 'List all portal users',
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
  summary: 'Disable a portal user permanently and end all sessions',
  details: '',
  options: {},
  async run(call) {
    const email = theOne(call, 'user')
    const sessions = await disableUser(call.database, email)
    return {
      isGood: true,
      text: `Disabled ${email}; sessions ended: ${sessions}.\n`,
      json: { email, disabled: true, sessions_ended: sessions },
    }
  },
}

const plain = (user: User) => ({
  user_id: user.id,
  email: user.email,
  organization_id: user.organizationId,
  roles: user.roles,
  created_at: user.createdAt,
  disabled_at: user.disabledAt ?? null,
})

const described = (user: User): string =>
  listing([
    ['email', user.email],
    ['user_id', user.id],
    ['organization', user.organizationId],
    ['roles', user.roles.join(', ')],
    ['created', user.createdAt.toISOString()],
    ...(user.disabledAt ? [['disabled', user.disabledAt.toISOString()] as const] : []),
  ])
