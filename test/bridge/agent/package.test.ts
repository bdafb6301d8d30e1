// The package as a clinic gets it: one file, no dependencies, and commands that work without the repository.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder, writeAgent } from '../support/agent.ts'

const bridge = resolve(import.meta.dirname, '../../../bridge')

test('the built file runs by itself, needs Node.js only, and names nothing of this machine', () => {
  const folder = join(freshFolder(), 'dist')
  execFileSync(process.execPath, [join(bridge, 'build.ts'), folder])
  const file = join(folder, 'agent.cjs')
  const text = readFileSync(file, 'utf8')
  const modules = [...text.matchAll(/require\("([^"]+)"\)/g)].map(([, name]) => name!)
  expect(modules.filter(name => !name.startsWith('node:'))).toEqual([])
  expect(text).not.toContain(resolve(bridge, '..'))
  expect(statSync(file).size).toBeLessThan(150_000)
  const agent = (...args: string[]) => spawnSync(process.execPath, [file, ...args], { encoding: 'utf8', cwd: folder })
  expect(agent('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('quarantine retry'), stderr: '' })
  const config = writeAgent(freshFolder(), 'http://127.0.0.1:9')
  expect(agent('doctor', '--config', config)).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('ECONNREFUSED'),
  })
})

test('the package has no dependencies and the version of the service', () => {
  const [own, service] = [bridge, resolve(bridge, '..')].map(folder =>
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
  )
  expect(own.version).toBe(service.version)
  expect(Object.keys(own).filter(name => /dependencies/i.test(name))).toEqual([])
})
