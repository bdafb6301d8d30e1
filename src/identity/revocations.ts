// Tokens that are invalid although they have not expired: revoked ones, and all tokens of revoked clients.
import type { Database } from '../db/database.ts'
import { type News, publish } from './news.ts'

export interface Revocations {
  has(jti: string, clientId: string): boolean
  /** Revokes a token in this process at once, and in every other process with the commit. */
  revoke(token: { jti: string; clientId: string; expires: number }): Promise<void>
  hear(news: News): void
  catchUp(all: boolean): Promise<void>
}

/** @param lifetime of tokens in seconds: a client revoked longer ago has none that could still be valid. */
export function createRevocations(database: Database, lifetime: number, now: () => number): Revocations {
  const tokens = new Map<string, number>()
  const clients = new Set<string>()
  return {
    has: (jti, clientId) => tokens.has(jti) || clients.has(clientId),
    async revoke({ jti, clientId, expires }) {
      await database.transaction(async on => {
        await on.query({
          text: `insert into revoked_token (jti, client_id, expires_at) values ($1, $2, $3) on conflict do nothing`,
          values: [jti, clientId, new Date(expires)],
        })
        await publish(on, { kind: 'token', jti, expires })
      })
      tokens.set(jti, expires)
    },
    hear(news) {
      if (news.kind === 'token') tokens.set(news.jti, news.expires)
      if (news.kind === 'client') clients.add(news.id)
    },
    async catchUp(all) {
      const since = all ? lifetime + 60 : 300
      for (const row of await revokedTokens(database, new Date(now()), since))
        tokens.set(row.jti, row.expires_at.getTime())
      for (const row of await revokedClients(database, since)) clients.add(row.id)
      for (const [jti, expires] of tokens) if (expires <= now()) tokens.delete(jti)
    },
  }
}

function revokedTokens(database: Database, time: Date, since: number): Promise<{ jti: string; expires_at: Date }[]> {
  return database.query({
    name: 'revoked-tokens',
    text: `select jti, expires_at from revoked_token
      where expires_at > $1 and revoked_at > now() - make_interval(secs => $2)`,
    values: [time, since],
  })
}

function revokedClients(database: Database, since: number): Promise<{ id: string }[]> {
  return database.query({
    name: 'revoked-clients',
    text: 'select id from client where revoked_at > now() - make_interval(secs => $1)',
    values: [since],
  })
}
