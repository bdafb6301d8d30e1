// The service and its commands as processes of their own, as a person starts them.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { demoClient } from '../../src/identity/demo-accounts.ts'

const root = resolve(import.meta.dirname, '../..')

/** Some thirty processes of a run load the same modules: each is made ready once. */
const compiled = join(tmpdir(), 'health-interop-compiled')

export interface Running {
  readonly child: ChildProcess
  /** What it has written so far. */
  readonly output: () => string
  /** Its exit code, or null after a signal. */
  readonly ended: Promise<number | null>
}

/** Starts `node FILE ARGS` in the project's folder, with these settings and no others (the test runner sets a BASE_URL of its own). */
export const run = (file: string, args: readonly string[], env: Record<string, string>): Running =>
  begin(process.execPath, [file, ...args], env)

/** Starts `npm run SCRIPT` in the same way; signals go to npm. */
export const runScript = (script: string, env: Record<string, string>): Running => begin('npm', ['run', script], env)

function begin(program: string, args: readonly string[], env: Record<string, string>): Running {
  const child = spawn(program, args, {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_COMPILE_CACHE: compiled, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  child.stdout.on('data', chunk => (text += chunk))
  child.stderr.on('data', chunk => (text += chunk))
  return { child, output: () => text, ended: new Promise(done => child.once('exit', code => done(code))) }
}

/** Waits until the condition holds. @throws Error with what was awaited after `seconds`. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, seconds = 30): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await wait(20)) if (await condition()) return
  throw new Error(`waited ${seconds} s in vain: ${what}`)
}

/** A port that nothing listens on, below those that the system gives to connections, which would take it before its user does. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise(done => {
    const server = createServer().once('error', () => done(false))
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)))
  })
}

/** Process id of the database server of a data folder. */
export async function postmaster(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Ends the database server of a data folder, if it has one, and resolves when it is gone. */
export async function endDatabase(dataDir: string): Promise<void> {
  const pid = await postmaster(dataDir).catch(() => 0)
  if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGINT')
  await until('the database server is gone', () => pid === 0 || !isAlive(pid))
}

/** An access token of the demo client. */
export async function demoToken(base: string): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: demoClient.id,
    client_secret: demoClient.secret,
  })
  const answer = await fetch(`${base}/api/v1/connect/auth/token`, { method: 'POST', body })
  return ((await answer.json()) as { access_token: string }).access_token
}
