// The files of a job, in the table and on disk. Each process that takes a job begins files of its own: what a dead
// process wrote after its last note is cut off, and what a process that lost the job still writes is ignored.
import type { Database } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { createGrowing, cutTo, type Folder, type Growing } from './folder.ts'
import type { HeldJob } from './jobs.ts'

export interface FileInfo {
  readonly name: string
  readonly kind: 'output' | 'deleted' | 'error'
  readonly type: string
  /** Of an import: the number of the input that it is about. */
  readonly input: number | undefined
  readonly count: number
  readonly bytes: number
}

interface FileRow {
  readonly name: string
  readonly kind: FileInfo['kind']
  readonly type: string
  readonly input: number | null
  readonly count: number
  readonly bytes: number
}

const toInfo = (row: FileRow): FileInfo => ({ ...row, input: row.input ?? undefined })

const columns = 'name, kind, type, input, count, bytes'

/** A job's files that hold something, in the order in which they were begun. */
export async function filesOf(on: Queryable, job: string): Promise<FileInfo[]> {
  const rows = await on.query<FileRow>({
    text: `select ${columns} from bulk_file where job = $1 and count > 0 order by number`,
    values: [job],
  })
  return rows.map(toInfo)
}

export async function findFile(on: Queryable, job: string, name: string): Promise<FileInfo | undefined> {
  const [row] = await on.query<FileRow>({
    text: `select ${columns} from bulk_file where job = $1 and name = $2`,
    values: [job, name],
  })
  return row && toInfo(row)
}

/** A file under way. */
export interface Output extends Growing, Pick<FileInfo, 'kind' | 'type' | 'input'> {
  readonly number: number
}

export interface Outputs {
  open(kind: FileInfo['kind'], type: string, input?: number): Promise<Output>
  /** Notes in the job's transaction how long the file is; it must have been flushed. */
  note(on: Queryable, file: Output): Promise<void>
  /** Closes whatever is open. */
  close(): Promise<void>
}

/** The files of a job that this process has just taken up. */
export async function takeUpFiles(database: Database, folder: Folder, job: HeldJob): Promise<Outputs> {
  await folder.make(job.id)
  const known = await database.query<{ name: string; bytes: number }>({
    text: 'select name, bytes from bulk_file where job = $1',
    values: [job.id],
  })
  for (const { name, bytes } of known) await cutTo(folder.path(job.id, name), bytes)
  let number = known.length
  const opened = new Set<Output>()
  return {
    async open(kind, type, input) {
      const own = ++number
      const name = `${kind === 'output' ? type : kind}-${own}-${job.lease.slice(0, 8)}.ndjson`
      const growing = await createGrowing(folder.path(job.id, name), name)
      const shut = growing.close
      const close = async (): Promise<void> => {
        if (opened.delete(file)) await shut()
      }
      const file: Output = Object.assign(growing, { kind, type, input, number: own, close })
      opened.add(file)
      return file
    },
    async note(on, file) {
      await on.query({
        text: `insert into bulk_file (job, name, number, kind, type, input, count, bytes) values ($1, $2, $3, $4, $5, $6, $7, $8)
          on conflict (job, name) do update set count = excluded.count, bytes = excluded.bytes`,
        values: [job.id, file.name, file.number, file.kind, file.type, file.input ?? null, file.count, file.bytes],
      })
    },
    async close() {
      for (const file of opened) await file.close()
    },
  }
}
