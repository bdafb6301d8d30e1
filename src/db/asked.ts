// A statement on its way to PostgreSQL, as pg has it in its queue: it writes itself as one message, and collects its answer from bytes.
import pg from 'pg'
import { executionOf } from './execution.ts'
import { type Collecting, receives } from './receiving.ts'
import { Rows } from './rows.ts'
import type { Statement } from './statement.ts'

type Answered = (error: Error | null | undefined) => void

/** A statement on its way. */
export class Asked extends (pg.Query as unknown as typeof Query) implements Collecting {
  readonly received: Rows
  /** Set while it is answered: what it stored is on the primary alone. */
  isUnreplicated = false
  /** What was done, as PostgreSQL says it. */
  command = ''

  /** @param answered called once, when the answer is complete */
  constructor({ text, values, name, memory }: Statement, answered: Answered) {
    super(text, values, answered)
    this.received = new Rows(memory)
    this.name = name
  }

  /** Writes it to the connection. @returns why that cannot be; nothing is written then */
  override submit(connection: Connection): Error | null {
    if (!receives(connection)) return new Error('This connection collects no rows: open it by a class of clientClass.')
    const { text, values, name = '' } = this
    const execution = this.requiresPreparation() ? executionOf(name, values) : undefined
    if (!execution) return super.submit(connection)
    const { parsedStatements: parsed, submittedNamedStatements: submitted } = connection
    const known = name === '' ? undefined : (parsed[name] ?? submitted[name])
    if (known === undefined) {
      connection.stream.cork()
      connection.parse({ name, text })
      if (name !== '') submitted[name] = text
      connection._send(execution)
      connection.stream.uncork()
    } else if (known === text) connection._send(execution)
    else return new Error(`Another statement is prepared as ${name}.`)
    return null
  }

  override handleCommandComplete({ text }: { readonly text: string }): void {
    this.command = text
  }
}

// Members of pg that its types lack.

declare class Query {
  constructor(text: string, values: readonly unknown[], answered: Answered)
  readonly text: string
  readonly values: readonly unknown[]
  name: string | undefined
  requiresPreparation(): boolean
  submit(connection: Connection): Error | null
  handleCommandComplete(message: { readonly text: string }): void
}

interface Connection {
  readonly stream: { cork(): void; uncork(): void }
  /** Texts of prepared statements by their names, and of those that are being prepared. */
  readonly parsedStatements: Readonly<Record<string, string>>
  readonly submittedNamedStatements: Record<string, string>
  parse(statement: { readonly name: string; readonly text: string }): void
  _send(bytes: Buffer): void
}
