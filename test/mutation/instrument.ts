// A copy of the tree in a temporary folder, in which every mutant is present and asleep.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import './sql.ts'

export interface Mutant {
  /** By which it is woken, in this copy. */
  readonly id: string
  /** By which it is known again in later runs: what it changes into what, and where, without line numbers. */
  readonly key: string
  readonly kind: string
  readonly file: string
  readonly line: number
  /** The text of the line, and of what is replaced. */
  readonly code: string
  readonly original: string
  readonly replacement: string
}

export interface Copy {
  readonly folder: string
  readonly mutants: readonly Mutant[]
  /** Test files below the folder. */
  readonly tests: readonly string[]
}

const silent = Object.assign(() => {}, {})
const log = new Proxy({}, { get: (_, name) => (String(name).startsWith('is') ? () => false : silent) })

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** @param files below the root, as Git names them */
export async function instrument(root: string, files: readonly string[]): Promise<Copy> {
  const folder = mkdtempSync(join(tmpdir(), 'health-interop-mutation-'))
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  const names = listed.split('\n').filter(name => name !== '' && existsSync(join(root, name)))
  for (const name of names) cpSync(join(root, name), join(folder, name))
  const tests = names.filter(name => name.startsWith('test/') && name.endsWith('.test.ts'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))

  const sources = files.map(name => ({ name, mutate: true, content: readFileSync(join(root, name), 'utf8') }))
  const options = { plugins: null, ignorers: [], excludedMutations: [] }
  const made = await new Instrumenter(log as never).instrument(sources, options)
  for (const { name, content } of made.files) writeFileSync(join(folder, name), content)

  const lines = new Map(sources.map(({ name, content }) => [name, content.split('\n')]))
  const seen = new Map<string, number>()
  const mutants = made.mutants.map(({ id, fileName, location: { start, end }, mutatorName, replacement }): Mutant => {
    const text = lines.get(fileName)!
    const code = text[start.line]!.trim()
    const within = text.slice(start.line, end.line + 1)
    within[within.length - 1] = within.at(-1)!.slice(0, end.column)
    within[0] = within[0]!.slice(start.column)
    const original = oneLine(within.join('\n'))
    const known = JSON.stringify([fileName, code, original, oneLine(replacement!)])
    const before = seen.get(known) ?? 0
    seen.set(known, before + 1)
    return {
      id,
      key: before === 0 ? known : `${known}#${before + 1}`,
      kind: mutatorName,
      file: fileName,
      line: start.line + 1,
      code,
      original,
      replacement: oneLine(replacement!),
    }
  })
  return { folder, mutants, tests }
}
