// Sets up the anchor of the audit trail as the settings say: its file, and the collector that gets each line.
import { type Anchor, createAnchor } from '../audit/anchor.ts'
import { sealingKey } from '../audit/chain.ts'
import type { Database } from '../db/database.ts'
import { anchorFileOf, type Config, ConfigError } from '../lib/config.ts'
import { Failure } from '../lib/failure.ts'
import type { Log } from '../lib/log.ts'
import { mustBeCallable, reachOf } from '../outbound/address.ts'
import { createSender } from '../outbound/send.ts'

export interface AnchoringParts {
  readonly config: Config
  readonly collector: Collector | undefined
  readonly database: Database
  /** ENCRYPTION_KEY. */
  readonly key: Buffer
  readonly log: Log
  readonly counted: (target: 'file' | 'url', outcome: 'written' | 'failed') => void
}

/** The anchor, or undefined if it is turned off. */
export function createAnchoring({ config, collector, key, ...parts }: AnchoringParts): Anchor | undefined {
  const file = anchorFileOf(config)
  if (file === undefined) return undefined
  const anchor = createAnchor({
    ...{ ...parts, file, key: sealingKey(key), now: () => new Date() },
    fileBytes: config.auditAnchorBytes,
    seconds: config.auditAnchorSeconds,
    send: collector?.send,
  })
  return {
    ...anchor,
    async close() {
      await anchor.close()
      await collector?.close()
    },
  }
}

export interface Collector {
  /** Sends a line; returns what was wrong. */
  send(line: string): Promise<string | undefined>
  close(): Promise<void>
}

/** What gets the lines at AUDIT_ANCHOR_URL, if that is set. @throws ConfigError if they may not be sent there. */
export function createCollector(config: Config): Collector | undefined {
  if (config.auditAnchorUrl === '') return undefined
  if (anchorFileOf(config) === undefined)
    throw new ConfigError('AUDIT_ANCHOR_URL is set, but AUDIT_ANCHOR_FILE is off: only lines of the file are sent.')
  const url = callable(config)
  const sender = createSender({ reach: reachOf(config) })
  const headers = { 'Content-Type': 'application/x-ndjson' }
  return {
    send: async body => (await sender.send({ method: 'POST', url, headers, body })).error,
    close: sender.close,
  }
}

function callable(config: Config): string {
  try {
    return mustBeCallable(config.auditAnchorUrl, reachOf(config), 'AUDIT_ANCHOR_URL')
  } catch (error) {
    throw error instanceof Failure ? new ConfigError(error.message) : error
  }
}
