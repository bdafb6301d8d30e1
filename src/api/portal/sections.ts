// The sections of the portal, in the order of its navigation, and who finds them there.
import { isAdministrator, type Role, type UserCaller } from '../../access/caller.ts'
import type { TextKey } from './texts.ts'

export interface Section {
  readonly path: string
  readonly title: TextKey
  /** What the section is for, in a sentence. */
  readonly about: TextKey
  /** None: every user. */
  readonly roles: readonly Role[]
}

export const sections: readonly Section[] = [
  { path: '/portal/clients', title: 'clients.title', about: 'clients.about', roles: ['developer'] },
  { path: '/portal/maps', title: 'maps.title', about: 'maps.about', roles: ['informaticist'] },
  { path: '/portal/webhooks', title: 'webhooks.title', about: 'webhooks.about', roles: ['developer'] },
  { path: '/portal/console', title: 'console.title', about: 'console.about', roles: ['developer'] },
  { path: '/portal/requests', title: 'requests.title', about: 'requests.about', roles: ['developer'] },
  { path: '/portal/limits', title: 'limits.title', about: 'limits.about', roles: ['developer'] },
  {
    path: '/portal/agents',
    title: 'agents.title',
    about: 'agents.about',
    roles: ['developer', 'privacy_officer'],
  },
  { path: '/portal/resources', title: 'resources.title', about: 'resources.about', roles: [] },
  {
    path: '/portal/patients',
    title: 'patients.title',
    about: 'patients.about',
    roles: ['privacy_officer'],
  },
  {
    path: '/portal/duplicates',
    title: 'duplicates.title',
    about: 'duplicates.about',
    roles: ['privacy_officer'],
  },
  {
    path: '/portal/emergencies',
    title: 'emergencies.title',
    about: 'emergencies.about',
    roles: ['privacy_officer'],
  },
  {
    path: '/portal/audit',
    title: 'audit.title',
    about: 'audit.about',
    roles: ['privacy_officer'],
  },
  {
    path: '/portal/operations',
    title: 'operations.title',
    about: 'operations.about',
    roles: ['administrator'],
  },
]

/** True if the user has one of the roles, or is an administrator; no roles: it is open to every user. */
export const isOpenTo = (caller: UserCaller, roles: readonly Role[]): boolean =>
  roles.length === 0 || isAdministrator(caller) || caller.roles.some(each => roles.includes(each))
