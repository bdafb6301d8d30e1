// The routes by which a user signs in to the portal, reads their own account, and signs out (SessionAuth, interface
// §5).

import { roles, type UserCaller } from '../../access/caller.ts'
import { open, type Route, reply, route, session } from '../../http/route.ts'
import { cookieText, mustBeSameOrigin } from '../../identity/cookies.ts'
import { Type } from '../../lib/schema.ts'

/** Who begins sessions and ends them. */
export interface Sessions {
  /** Seconds that a session lives at most. */
  readonly lifetime: number
  /** @throws Failure UNAUTHENTICATED for any wrong pair, AUTH_THROTTLED after too many, UNAVAILABLE when too many wait. */
  begin(given: { email: string; password: string; address: string; requestId: string }): Promise<{
    readonly cookie: string
    readonly caller: UserCaller
  }>
  end(caller: UserCaller): Promise<void>
}

const SignIn = Type.Object(
  {
    email: Type.String({ maxLength: 254, examples: ['amina@hospital.example'] }),
    password: Type.String({ maxLength: 1000 }),
  },
  { $id: 'SignIn', additionalProperties: false },
)

const PortalUser = Type.Object(
  {
    user_id: Type.String(),
    email: Type.String(),
    organization_id: Type.String(),
    roles: Type.Array(Type.Enum([...roles]), { description: 'What the user does in the portal.' }),
  },
  { $id: 'PortalUser', description: 'The signed-in user.' },
)

const shown = ({ userId, email, organizationId, roles: own }: UserCaller) => ({
  user_id: userId,
  email,
  organization_id: organizationId,
  roles: own,
})

const portal = { path: '/api/v1/portal/session', tag: 'Portal' } as const
const own = { ...portal, access: session, isAboutCaller: true } as const

/**
 * Every route below /api/v1/portal.
 * @param isSecure true where the cookie travels by TLS only: everywhere but in a local service.
 */
export function sessionRoutes(sessions: Sessions, isSecure: boolean): Route[] {
  return [
    route({
      ...portal,
      method: 'POST',
      operationId: 'portalSignIn',
      summary: 'Create a portal session',
      description:
        'Signs a user in and sets the cookie `service_session`. The session ends after 12 hours, or after 30 minutes without a request. Requests from pages of other origins are refused.',
      access: open,
      isRepeatable: true,
      maxBodyBytes: 4096,
      body: SignIn,
      replies: { 201: PortalUser },
      async handle(request) {
        mustBeSameOrigin(request)
        const { remoteAddress: address, requestId } = request
        const { cookie, caller } = await sessions.begin({ ...request.body, address, requestId })
        return reply(201, shown(caller), { 'set-cookie': cookieText(cookie, sessions.lifetime, isSecure) })
      },
    }),
    route({
      ...own,
      method: 'GET',
      operationId: 'portalWhoAmI',
      summary: 'Get the signed-in user',
      replies: { 200: PortalUser },
      handle: ({ caller }) => reply(200, shown(caller)),
    }),
    route({
      ...own,
      method: 'DELETE',
      operationId: 'portalSignOut',
      summary: 'End the portal session and clear its cookie',
      replies: { 204: null },
      async handle({ caller }) {
        await sessions.end(caller)
        return reply(204, undefined, { 'set-cookie': cookieText('', 0, isSecure) })
      },
    }),
  ]
}
