// The client that a local service has from its first start, so that the first call needs no set-up. Nowhere else.

/** Fixed on purpose: it stands in the README. Production refuses to start where it exists. */
export const demoClient = { id: 'demo-client', secret: 'demo-secret-for-local-use-only' } as const
