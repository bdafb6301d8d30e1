// Which tests meet which mutant: each test file is run once without a mutant, and not again until it or the mutants change.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Copy, Mutant } from './instrument.ts'
import type { Ran, Running } from './running.ts'

/** Tests that take long, start processes of their own, or are about languages and data that know no records. */
const apart =
  /^test\/(start|clients|fml|fhirpath|definitions|mapping|commands\/map|lib|shapes|api\/fhir\/bulk)\/|\/(crash|load|metrics)\.|\/fhir\/(guide|binary|capability|costly|errors|search-(cases|text|terminology))|\/(embedded|floors|docs|mappings|plans|race|bodies-in-flight|fairness|deep-bodies)[.-]/

interface Known {
  readonly hash: string
  /** Source files whose mutants could be met. */
  readonly sources: readonly string[]
  readonly ran: Pick<Ran, 'tests' | 'ms'>
  /** Mutants by test, as places in the list of keys. */
  readonly met: Readonly<Record<string, readonly number[]>>
}

interface Notes {
  /** Of all mutants that were ever met. */
  readonly keys: string[]
  loaded: number[]
  readonly files: Record<string, Known>
}

export interface Meeting {
  readonly file: string
  /** Those that meet the mutant. */
  readonly tests: readonly string[]
  /** All up to the last of them, for files whose tests build on each other. */
  readonly upTo: readonly string[]
  readonly ms: number
  /** How much of the source file is met by the tests of the test file, of what any test file meets of it; thrice that for its own tests. */
  readonly share: number
}

export interface Coverage {
  /** True for what is met while modules load, and not later. */
  isStatic(mutant: Mutant): boolean
  meetings(mutant: Mutant): readonly Meeting[]
  /** Changes with the test files that meet the mutant. */
  versionOf(mutant: Mutant): string
  /** A short file that meets much: what a process remembers is remembered from its run. */
  readonly first: Meeting
}

/**
 * What was noted of lines that are still there goes on being used; a mutant that is new is taken to be met like others of its file.
 * @param isNamed true for test files that alone are to try the mutants; absent: all are. What is met while modules load may matter to any that is named
 */
export async function readCoverage(
  copy: Copy,
  running: Running,
  at: string,
  isNamed: ((test: string) => boolean) | undefined,
  say: (text: string) => void,
): Promise<Coverage> {
  const sources = [...new Set(copy.mutants.map(({ file }) => file))]
  const keys = new Map(copy.mutants.map(({ id, key }) => [id, key]))
  const notes: Notes = existsSync(at)
    ? (JSON.parse(readFileSync(at, 'utf8')) as Notes)
    : { keys: [], loaded: [], files: {} }
  const places = new Map(notes.keys.map((key, place) => [key, place]))
  const placeOf = (id: string): number => {
    const key = keys.get(id)!
    if (!places.has(key)) places.set(key, notes.keys.push(key) - 1)
    return places.get(key)!
  }
  const names = copy.tests.filter(name => !apart.test(name) && (isNamed?.(name) ?? true))
  for (const [index, name] of names.entries()) {
    const hash = digest(readFileSync(join(copy.folder, name), 'utf8'))
    const known = notes.files[name]
    if (known?.hash === hash && sources.every(source => known.sources.includes(source))) continue
    const { failure, met, tests, ms: first } = await running.meet(name)
    // The first to need a module has loaded it, which is not what its tests take.
    const own = tests.reduce((sum, each) => sum + each.ms, 0)
    const ms = failure || first < 2 * own + 1000 ? first : (await running.run(name, '', 180_000)).ms
    say(`${index + 1}/${names.length} ${name} ${ms} ms${failure ? ` fails: ${failure.test} ${failure.message}` : ''}`)
    if (failure) continue
    notes.loaded = [...new Set([...notes.loaded, ...(met?.loaded ?? []).map(placeOf)])]
    const byTest = Object.entries(met?.met ?? {}).map(([test, ids]) => [test, ids.map(placeOf)])
    notes.files[name] = { hash, sources, ran: { tests, ms }, met: Object.fromEntries(byTest) }
    writeFileSync(at, JSON.stringify(notes))
  }

  const found = new Map<string, Meeting[]>()
  /** Test files that meet anything of a source file, whole: what is met while it loads may matter to any of their tests. */
  const near = new Map<string, Map<string, Meeting>>()
  const counts = new Map<string, number>()
  for (const name of names)
    for (const [place, meeting] of notes.files[name] ? meetingsOf(name, notes.files[name]) : []) {
      const key = notes.keys[place]!
      found.set(key, [...(found.get(key) ?? []), meeting])
      counts.set(name, (counts.get(name) ?? 0) + 1)
      const file = fileOf(key)
      near.set(file, (near.get(file) ?? new Map<string, Meeting>()).set(name, wholeOf(name, notes.files[name]!)))
    }
  const shares = sharesOf(notes)
  for (const [key, meetings] of found)
    found.set(
      key,
      meetings.map(each => ({ ...each, share: shares(each.file, fileOf(key)) })),
    )
  const loaded = new Set(notes.loaded.map(place => notes.keys[place]!))
  /** Of a file that holds nothing but constants no test meets anything: those of its folder may. */
  const ofFolder = (file: string): Map<string, Meeting> =>
    new Map(
      names
        .filter(name => notes.files[name] && (isNamed || isHome(name, file)))
        .map(name => [name, wholeOf(name, notes.files[name]!)]),
    )
  const all = (file: string): Meeting[] =>
    [...((!isNamed && near.get(file)) || ofFolder(file)).values()].map(each => ({
      ...each,
      share: shares(each.file, file),
    }))
  const isQuick = (name: string): boolean => notes.files[name]!.ran.ms < 2500
  const most = [...counts.keys()].toSorted((a, b) => counts.get(b)! - counts.get(a)!)
  const first = most.find(isQuick) ?? most[0] ?? names.find(name => notes.files[name])
  if (first === undefined) throw new Error('No test meets any of this')
  const lines = new Set(notes.keys.map(lineOf))
  const meetings = ({ key, file }: Mutant): Meeting[] =>
    found.get(key) ?? (loaded.has(key) || !lines.has(lineOf(key)) ? all(file) : [])
  return {
    versionOf: mutant =>
      digest(
        meetings(mutant)
          .map(({ file }) => notes.files[file]!.hash)
          .join(),
      ).slice(0, 12),
    isStatic: ({ key }) => loaded.has(key) && !found.has(key),
    meetings,
    first: wholeOf(first, notes.files[first]!),
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const partsOf = (key: string): string[] => JSON.parse(key.replace(/#\d+$/, '')) as string[]
const fileOf = (key: string): string => partsOf(key)[0]!
const lineOf = (key: string): string => JSON.stringify(partsOf(key).slice(0, 2))

function wholeOf(file: string, { ran }: Known): Meeting {
  const tests = ran.tests.map(({ id }) => id)
  return { file, tests, upTo: tests, ms: ran.ms, share: 1 }
}

function meetingsOf(file: string, { ran, met }: Known): Map<number, Meeting> {
  const ids = ran.tests.map(({ id }) => id)
  const around = ran.ms - ran.tests.reduce((sum, { ms }) => sum + ms, 0)
  const meeting = new Map<number, Set<string>>()
  for (const [test, mutants] of Object.entries(met))
    for (const mutant of mutants) {
      const tests = meeting.get(mutant) ?? new Set()
      for (const id of ids.includes(test) ? [test] : ids) tests.add(id)
      meeting.set(mutant, tests)
    }
  const made = [...meeting].map(([mutant, those]): [number, Meeting] => {
    const tests = ran.tests.filter(({ id }) => those.has(id))
    const ms = Math.round(around + tests.reduce((sum, each) => sum + each.ms, 0))
    const upTo = ids.slice(0, ids.indexOf(tests.at(-1)?.id ?? '') + 1)
    return [mutant, { file, tests: tests.map(({ id }) => id), upTo, ms, share: 1 }]
  })
  return new Map(made.filter(([, { tests }]) => tests.length > 0))
}

function sharesOf({ files, keys: names }: Notes): (test: string, source: string) => number {
  const counts = new Map<string, number>()
  const most = new Map<string, number>()
  for (const [name, { met }] of Object.entries(files)) {
    const keys = new Set(Object.entries(met).flatMap(([test, those]) => (test.includes('/') ? [] : those)))
    for (const source of [...keys].map(key => fileOf(names[key]!))) {
      const count = (counts.get(`${name} ${source}`) ?? 0) + 1
      counts.set(`${name} ${source}`, count)
      most.set(source, Math.max(most.get(source) ?? 0, count))
    }
  }
  return (test, source) => {
    const share = ((counts.get(`${test} ${source}`) ?? 0) + 0.01) / ((most.get(source) ?? 0) + 0.01)
    return isHome(test, source) ? share * 3 : share
  }
}

/** Tests of src/access are in test/access, those of src/consents wherever their file is named after them. */
function isHome(test: string, source: string): boolean {
  const [, folder] = source.split('/')
  return test.includes(folder!.replace(/s$/, ''))
}
