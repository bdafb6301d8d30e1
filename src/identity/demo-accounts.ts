// The names and secrets of the demo client and the demo user. They load nothing, so that the first process can print them.

/** Fixed on purpose: it stands in the README, so that the first call works as it is written there. */
export const demoClient = {
  id: 'demo-client',
  secret: 'demo-secret-for-local-use-only',
  organizationId: 'demo-organization',
} as const

/** Who signs in to the portal of a local service with one click. */
export const demoUser = {
  email: 'demo@example.org',
  password: 'demo-password-for-local-use-only',
} as const
