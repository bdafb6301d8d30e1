// Changes the code in one place at a time (a mutant), and looks whether a test fails: npm run mutate -- policy consents store/change.ts
//
// A copy of the tree is instrumented with all mutants of the folders and files that are named (below src), by Stryker's
// instrumenter and by sql.ts. One process of Vitest stays; a mutant is woken by a value that its worker reads. Each test file runs once
// without a mutant, which tells the tests that meet a mutant; then each mutant runs these, the most promising first, until one fails.
// A mutant that is met only while modules load has a process of its own. Results go to .mutation/results.jsonl as they
// come: a run that is broken off goes on from there, and what was killed is not run again while its line stays, what survived when a test
// file that meets it has changed. What was killed stands in killed.txt, too, which belongs to the code: it need not be run on other machines.
// A survivor is a test that is missing, code that is needless, or a line of explained.jsonl that says why it changes nothing. Exits 1 if any is neither.
//   --limit N    no more than N mutants in this run; with 0 only the report
//   --kinds A,B  only mutants of these kinds, such as SQL and ConditionalExpression
//   --tests A,B  only test files whose paths begin with test/A or test/B; what survives these is run again when others may kill it
//   --changed    only files that differ from the branch main
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Coverage, type Meeting, readCoverage } from './coverage.ts'
import { instrument, type Mutant } from './instrument.ts'
import { type Ran, type Running, startRunning } from './running.ts'

interface Result {
  readonly key: string
  readonly state: 'killed' | 'survived'
  /** Changes with the test files that meet it. */
  readonly met: string
  /** Test files that ran, of those that meet it. */
  readonly ran: string
  readonly by?: string
  readonly test?: string
  readonly testId?: string
  readonly why?: string
}

interface Explanation {
  readonly file: string
  readonly code: string
  readonly original?: string
  readonly replacement: string
  readonly why: string
}

/** Time (ms) that tests get to kill one mutant, beyond which it has survived: all, and those that hardly know its file. */
const enough = { near: 6_000, far: 3_000 }
/** A test file knows a source file if it meets this part of what any meets of it. */
const nearness = 0.3
/** Milliseconds that a file's tests may take to be tried before all others. */
const quickness = 2000
/** Tests that are tried before all others. */
const mostLikely = 5
/** Results that are kept back until a run without a mutant has shown that the process is sound. */
const mostUnproven = 30

const root = resolve(import.meta.dirname, '../..')
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    limit: { type: 'string' },
    changed: { type: 'boolean' },
    kinds: { type: 'string' },
    tests: { type: 'string' },
  },
})
const say = (text: string): void => console.log(text)
const git = (...args: string[]): string[] =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim().split('\n').filter(Boolean)
const linesOf = <T>(file: string): T[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line) as T)
    : []

const changed = options.changed ? new Set(git('diff', '--name-only', 'main')) : undefined
const isIn = (wanted: string) => (name: string) => name === `src/${wanted}` || name.startsWith(`src/${wanted}/`)
const sources = git('ls-files', '-co', '--exclude-standard', 'src').filter(
  name => name.endsWith('.ts') && (changed?.has(name) ?? true),
)
/** In the order in which they are named. */
const files = [...new Set(positionals.flatMap(wanted => sources.filter(isIn(wanted))))]
if (files.length === 0) {
  say('Name folders or files below src: npm run mutate -- policy store/change.ts')
  process.exit(options.changed ? 0 : 2)
}

const wantedTests = options.tests?.split(',').map(each => `test/${each}`)
const isNamed = wantedTests && ((test: string): boolean => wantedTests.some(each => test.startsWith(each)))

const folder = join(root, '.mutation')
mkdirSync(folder, { recursive: true })
const resultsFile = join(folder, 'results.jsonl')
const results = new Map(linesOf<Result>(resultsFile).map(result => [result.key, result]))
const explanations = linesOf<Explanation>(join(import.meta.dirname, 'explained.jsonl'))
const explains = (mutant: Mutant) => (each: Explanation) =>
  each.file === mutant.file &&
  each.code === mutant.code &&
  each.replacement === mutant.replacement &&
  (each.original === undefined || each.original === mutant.original)

/** Mutants that were killed, on any machine: a line for each source file, with the hashes of what is changed in it, which a moved file takes along. */
const killedFile = join(import.meta.dirname, 'killed.txt')
const everKilled = new Map<string, readonly string[]>()
const killedLines = existsSync(killedFile) ? readFileSync(killedFile, 'utf8').split('\n').filter(Boolean) : []
// A merge leaves two lines where both sides had new ones.
for (const [file, ...hashes] of killedLines.map(line => line.split(' ')))
  everKilled.set(file!, [...(everKilled.get(file!) ?? []), ...hashes])
const hashOf = ({ key, file }: Mutant): string =>
  createHash('sha256')
    .update(key.replace(JSON.stringify(file), ''))
    .digest('base64url')
    .slice(0, 6)
const isKilled = (mutant: Mutant): boolean =>
  results.get(mutant.key)?.state === 'killed' || everKilled.get(mutant.file)?.includes(hashOf(mutant)) === true

const copy = await instrument(root, files)
const kinds = options.kinds?.split(',')
const isExplained = (mutant: Mutant): boolean => explanations.some(explains(mutant))
const todo = copy.mutants.filter(
  mutant => !isExplained(mutant) && !isKilled(mutant) && (kinds?.includes(mutant.kind) ?? true),
)

let isStopped = false

if (todo.length > 0 && options.limit !== '0') {
  // With the whole application: what its modules do to those of the run while they load is no deed of a test.
  const running = await startRunning(copy.folder, [...files, 'src/app/app.ts'])
  // Vitest would end at once, and leave its database behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.removeAllListeners(signal).on(signal, () => (isStopped = true))
  try {
    const coverage = await readCoverage(copy, running, join(folder, 'coverage.json'), isNamed, say)
    await runAll(todo, coverage, running)
  } finally {
    await running.close()
  }
} else rmSync(copy.folder, { recursive: true, force: true })
keepKilled()
report()

/** Writes what was killed of the folders that were named; lines of files that are gone go. */
function keepKilled(): void {
  const killed = new Map(everKilled)
  for (const file of killed.keys()) if (!existsSync(join(root, file))) killed.delete(file)
  for (const file of files) killed.delete(file)
  for (const [file, mutants] of Map.groupBy(copy.mutants.filter(isKilled), each => each.file))
    killed.set(file, mutants.map(hashOf).sort())
  const lines = [...killed].map(([file, hashes]) => `${file} ${hashes.join(' ')}\n`)
  writeFileSync(killedFile, lines.sort().join(''))
}

/** How often a test file has killed a mutant of a source file, of how many. */
function createRecord() {
  const counts = new Map<string, { kills: number; tries: number }>()
  const of = (source: string, test: string) => {
    const key = `${source} ${test}`
    if (!counts.has(key)) counts.set(key, { kills: 0, tries: 0 })
    return counts.get(key)!
  }
  const promise = (source: string, { file, ms, share }: Meeting): number => {
    const { kills, tries } = of(source, file)
    return (kills + share) / (tries + 1) / (ms + 100)
  }
  const killed = new Map<string, Map<string, number>>()
  return {
    note(source: string, test: string): void {
      const kills = killed.get(source) ?? new Map<string, number>()
      killed.set(source, kills.set(test, (kills.get(test) ?? 0) + 1))
    },
    /** Of these tests, the few that have killed most. */
    killers(source: string, tests: ReadonlySet<string>): ReadonlySet<string> {
      const own = [...(killed.get(source) ?? [])].filter(([test]) => tests.has(test))
      const most = own.toSorted(([, a], [, b]) => b - a).slice(0, mostLikely)
      return new Set(most.map(([test]) => test))
    },
    count(source: string, test: string, isKill: boolean): void {
      const count = of(source, test)
      count.tries++
      if (isKill) count.kills++
    },
    order: (source: string, meetings: readonly Meeting[]): Meeting[] =>
      meetings.toSorted((a, b) => promise(source, b) - promise(source, a)),
  }
}

async function runAll(all: readonly Mutant[], coverage: Coverage, running: Running): Promise<void> {
  const record = createRecord()
  for (const { key, state, by, testId } of results.values()) {
    if (state !== 'killed' || !by) continue
    const [source] = JSON.parse(key.replace(/#\d+$/, '')) as [string]
    record.count(source, by, true)
    if (testId) record.note(source, testId)
  }
  /** Files whose tests fail without those before them, and tests that have passed alone. */
  const whole = new Set<string>()
  const alone = new Set<string>()

  /** How much longer a run takes than when coverage was noted: machines have other things to do. */
  let slowness = 1

  /** One run; whatever it was, the next one is in a process that has loaded the code. */
  async function runIn(file: string, mutant: string, within: number, tests: readonly string[]): Promise<Ran> {
    const ran = await running.run(file, mutant, within, tests)
    if (ran.isLate) await renew()
    return ran
  }

  async function tryFile({ id }: Mutant, { file, tests, upTo, ms }: Meeting): Promise<Ran> {
    const within = slowness * (3 * ms + 3000)
    if (whole.has(file)) return runIn(file, id, 4 * within, upTo)
    const ran = await runIn(file, id, within, tests)
    const { failure, isLate } = ran
    if (!(isLate || failure?.id) || tests.length === upTo.length) return ran
    const few = isLate ? tests : tests.slice(0, tests.indexOf(failure!.id) + 1)
    const name = `${file} ${few.join()}`
    if (alone.has(name)) return ran
    if ((await runIn(file, '', within, few)).failure === undefined) {
      alone.add(name)
      return ran
    }
    whole.add(file)
    return runIn(file, id, 4 * within, upTo)
  }

  async function attempt(mutant: Mutant): Promise<Result> {
    const meetings = record.order(mutant.file, coverage.meetings(mutant))
    const common = { key: mutant.key, met: coverage.versionOf(mutant) }
    let spent = 0
    let count = 0
    async function kills(meeting: Meeting): Promise<Result | undefined> {
      const { failure, ms } = await tryFile(mutant, meeting)
      spent += ms / slowness
      if (!failure) return undefined
      record.note(mutant.file, failure.id)
      const ran = `${count}/${meetings.length}`
      return {
        ...common,
        state: 'killed',
        ran,
        by: meeting.file,
        test: failure.test,
        testId: failure.id,
        why: failure.message,
      }
    }
    // Those tests first that have killed others of this file.
    const killers = record.killers(mutant.file, new Set(meetings.flatMap(({ tests }) => tests)))
    const quick = meetings.filter(({ ms }) => ms < quickness)
    const likely = quick.map(each => ({ ...each, tests: each.tests.filter(id => killers.has(id)) }))
    for (const meeting of likely.filter(({ tests }) => tests.length > 0)) {
      const killed = await kills(meeting)
      if (killed) return killed
    }
    for (const meeting of meetings) {
      if (spent > (meeting.share < nearness ? enough.far : enough.near)) break
      count++
      const killed = await kills(meeting)
      record.count(mutant.file, meeting.file, killed !== undefined)
      if (killed) return killed
    }
    return { ...common, state: 'survived', ran: `${count}/${meetings.length}` }
  }

  const write = (result: Result): void => {
    results.set(result.key, result)
    appendFileSync(resultsFile, `${JSON.stringify(result)}\n`)
  }
  const isSound = async ({ file, tests, upTo, ms }: Meeting): Promise<boolean> => {
    const { failure, ms: took } = await running.run(file, '', 600_000, upTo)
    if (failure) say(`${file} fails without a mutant: ${failure.test} ${failure.message}`)
    else if (tests.length === upTo.length) slowness = Math.max(1, took / ms)
    return failure === undefined
  }
  /** A new process, in which this passes: once to load, once to see how fast it goes. A busy machine gets a second process. */
  const renew = async (proof = coverage.first): Promise<void> => {
    for (let tries = 0; tries < 2; tries++) {
      await running.renew()
      await isSound(coverage.first)
      if (await isSound(proof)) return
    }
    throw new Error(`${proof.file} has to pass`)
  }

  const isOpen = (mutant: Mutant): boolean => results.get(mutant.key)?.met !== coverage.versionOf(mutant)
  const open = all.filter(isOpen).slice(0, Number(options.limit ?? all.length))
  let waiting = open.filter(mutant => !coverage.isStatic(mutant))
  const started = performance.now()
  let done = 0
  const tell = (mutant: Mutant, { state, by, ran }: Result): void => {
    done++
    const seconds = ((performance.now() - started) / 1000 / done).toFixed(2)
    say(
      `${done}/${open.length} ${seconds} s each · ${state} ${by ?? ''} (${ran}) ${mutant.file}:${mutant.line} ${mutant.kind}`,
    )
  }
  await renew()
  // Of a group that leaves the process unsound, each is run and proven by itself: one of them has changed what modules remember.
  let suspects = 0
  while (waiting.length > 0 && !isStopped) {
    const group = waiting.slice(0, suspects > 0 ? 1 : mostUnproven)
    const made: Result[] = []
    for (const mutant of group) {
      const result = await attempt(mutant)
      // A signal that ends this run ends the process of the tests, too: that is no deed of theirs.
      if (isStopped) break
      made.push(result)
      tell(mutant, result)
    }
    // The file that killed last has to pass without a mutant; else all of these are run again, in a new process.
    const last = made.findLast(({ by }) => by)
    const proof =
      last && coverage.meetings(group.find(({ key }) => key === last.key)!).find(({ file }) => file === last.by)
    if (proof && !(await isSound(proof))) {
      await renew(proof)
      if (made.length > 1) {
        say(`${made.length} mutants are run again`)
        done -= made.length
        suspects = made.length
        continue
      }
    }
    suspects = Math.max(0, suspects - made.length)
    waiting = waiting.slice(made.length)
    for (const result of made) write(result)
  }
  for (const mutant of open.filter(coverage.isStatic)) {
    if (isStopped) break
    await running.renew()
    const result = await attempt(mutant)
    if (isStopped) break
    write(result)
    tell(mutant, result)
  }
}

function report(): void {
  const shown = (part: readonly Mutant[]): string => {
    const explained = part.filter(isExplained).length
    const killed = part.filter(each => !isExplained(each) && isKilled(each)).length
    return `${part.length} mutants, ${killed} killed, ${explained} explained, ${part.length - killed - explained} left`
  }
  for (const wanted of positionals) {
    const part = copy.mutants.filter(({ file }) => isIn(wanted)(file))
    say(`${wanted}: ${shown(part)}; SQL among them: ${shown(part.filter(({ kind }) => kind === 'SQL'))}`)
  }
  const left = copy.mutants.filter(mutant => !isExplained(mutant) && !isKilled(mutant))
  for (const mutant of left) {
    const state = results.get(mutant.key)
    const how = state ? `survived ${state.ran}` : 'not run'
    say(
      `${mutant.file}:${mutant.line} ${mutant.kind} (${how}) ${mutant.code}\n    ${mutant.original}\n    → ${mutant.replacement}`,
    )
  }
  const idle = explanations.filter(
    each => files.includes(each.file) && !copy.mutants.some(mutant => explains(mutant)(each)),
  )
  for (const { file, code } of idle) say(`explained.jsonl explains what is not there: ${file} ${code}`)
  process.exitCode = left.length + idle.length > 0 ? 1 : 0
}
