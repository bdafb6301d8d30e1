// The tests of the PHP library (clients/php/tests), each as a test of this run. They need php-cli, php-curl and phpunit.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startScriptedServer } from './support/scripted-server.ts'
import { startStory, told } from './support/story.ts'

const folder = join(import.meta.dirname, '../../clients/php')

interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Runs a program to its end; code null: there is no such program. */
function run(program: string, parameters: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  return new Promise(resolve => {
    const child = spawn(program, parameters, { cwd: folder, env: { ...process.env, ...environment } })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', bytes => (output += bytes))
    child.on('error', () => resolve({ code: null, output: '' }))
    child.on('close', code => resolve({ code, output }))
  })
}

interface Case {
  readonly suite: string
  readonly name: string
  /** What PHPUnit says about a test that did not pass. */
  readonly fault: string | undefined
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#10': '\n', '#039': "'" }
const text = (xml: string): string => xml.replace(/&([#\w]+);/g, (all, name) => entities[name] ?? all)

/** The sentence of a test: the name of its case, or that of its method. */
function sentence(name: string): string {
  const set = /^(\w+) with data set "(.*)"$/s.exec(name)
  return set
    ? set[2]!
    : name
        .replace(/^test/, '')
        .replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
        .trim()
}

function casesOf(report: string): Case[] {
  return [...report.matchAll(/<testcase name="([^"]*)" class="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs)].map(
    ([, name = '', suite = '', inside]) => ({
      suite: suite.split('\\').at(-1)!,
      name: sentence(text(name)),
      fault: inside === undefined || !/<(failure|error|skipped|warning)/.test(inside) ? undefined : text(inside),
    }),
  )
}

async function runTests(): Promise<{ readonly cases: Case[]; readonly ended: Ended }> {
  const temporary = mkdtempSync(join(tmpdir(), 'health-interop-php-'))
  const scripted = await startScriptedServer()
  try {
    const report = join(temporary, 'report.xml')
    const ended = await run('phpunit', ['-c', 'phpunit.xml', '--log-junit', report], { SCRIPTED_SERVER: scripted.url })
    return { cases: casesOf(readFileSync(report, 'utf8')), ended }
  } finally {
    await scripted.close()
    rmSync(temporary, { recursive: true })
  }
}

const present = (await run('phpunit', ['--version'])).code === 0
const { cases, ended } = present ? await runTests() : { cases: [], ended: { code: 0, output: '' } }

test.runIf(!present)('PHP is installed where CI runs', () => {
  console.warn(
    'PHP or PHPUnit is missing: the tests of clients/php are left out (apt-get install php-cli php-curl phpunit).',
  )
  expect(process.env['CI']).not.toBe('true')
})

describe.runIf(present)('the PHP library', () => {
  test('runs its tests', () => {
    expect(cases.length, ended.output).toBeGreaterThan(300)
    expect(ended.code, ended.output).toBe(0)
  })

  for (const suite of new Set(cases.map(each => each.suite)))
    describe(suite, () => {
      for (const { name, fault } of cases.filter(each => each.suite === suite))
        test(name, () => {
          expect(fault).toBeUndefined()
        })
    })

  test('tells the story of all languages against the real service', async () => {
    const { story } = await startStory()
    const { output } = await run('php', ['tests/story.php'], { STORY: JSON.stringify(story) })
    expect(output.startsWith('{') ? JSON.parse(output) : output).toEqual(told)
  })
})
