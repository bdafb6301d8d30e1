// Classes of connections that do more than those of pg to open: pools of pg make connections by their class alone.
import pg from 'pg'
import { createReceiving } from './receiving.ts'

export interface Manner {
  /** Adds to the settings of a connection; absent: nothing. */
  readonly configured?: (config: pg.ClientConfig) => pg.ClientConfig
  /** Receives each connection when it is made; absent: nothing. */
  readonly made?: (client: pg.Client) => void
  /** Opens it, and resolves when it can be used; if it rejects, the connection ends. @param connect as pg does */
  readonly open: (client: pg.Client, connect: () => Promise<unknown>) => Promise<void>
}

/** A class of connections that open in this manner. Their errors have a listener: their users learn of them from their statements. */
export function clientClass({ configured = config => config, made, open }: Manner): typeof pg.Client {
  class Client extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      const receiving = createReceiving()
      super(receiving.configured(configured(config)))
      receiving.begin(this)
      // An event without a listener would end the process.
      this.on('error', () => {})
      made?.(this)
    }

    override connect(): Promise<pg.Client>
    override connect(told: (error: Error) => void): void
    override connect(told?: (error: Error) => void): Promise<pg.Client> | undefined {
      const opened = open(this, () => super.connect()).then(
        () => this,
        error => {
          this.end().catch(() => {})
          throw error
        },
      )
      if (!told) return opened
      opened.then(() => (told as () => void)(), told)
      return undefined
    }
  }
  return Client as typeof pg.Client
}
