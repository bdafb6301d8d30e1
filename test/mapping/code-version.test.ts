// The version of the code: it changes with each file that has a part in what is said of maps.

import { readFileSync } from 'node:fs'
import { cp, readFile, rename, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { codeVersion, DECIDING } from '../../src/mapping/code-version.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const source = resolve(import.meta.dirname, '../../src')

const FROM = /^(?:import|export|\}) ?[^'\n]*from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)/gm

/** Each file that these import, directly or not, types aside; packages and parts of Node by their name. */
function reached(...files: string[]): string[] {
  const all = new Set(files)
  for (const file of all) {
    const text = file.endsWith('.ts') ? readFileSync(join(source, file), 'utf8') : ''
    for (const names of text.replace(/^(?:import|export) type \{[^}]*\} from.*/gm, '').matchAll(FROM)) {
      const to = names.slice(1).find(name => name !== undefined)!
      all.add(to.startsWith('.') ? relative(source, resolve(source, dirname(file), to)) : to)
    }
  }
  return [...all]
}

const deciding = reached('mapping/verdict.ts', 'mapping/map-text.ts', 'mapping/resources.ts')

test('every file that a verdict comes from is in a folder that the version covers, and none is in a package', () => {
  const isCovered = (file: string) => DECIDING.some(folder => file.startsWith(`${folder}/`))
  const others = [...deciding, ...reached('shapes/all.ts')].filter(file => !isCovered(file))
  expect(others.filter(file => !file.startsWith('node:'))).toEqual([])
  expect(deciding.length).toBeGreaterThan(100)
  for (const file of ['fml/compile/translate.ts', 'fhirpath/build.ts', 'hl7v2/segments.json'])
    expect(deciding).toContain(file)
})

test('of the clock, chance, the place and the settings of the process, a verdict asks nothing', () => {
  const asked =
    /Date\.now|new Date\(\)|Math\.random|randomUUID|performance|\bIntl\b|toLocale|localeCompare|process\.\w+/g
  const found = deciding
    .filter(file => file.endsWith('.ts'))
    .flatMap(file => [...readFileSync(join(source, file), 'utf8').matchAll(asked)].map(([each]) => `${file} ${each}`))
  expect(found.toSorted()).toEqual([
    // What maps ask when they run.
    'fhirpath/functions/utility.ts new Date()',
    'fml/compile/references.ts randomUUID',
    // How paths are shown: paths are part of the key.
    'mapping/files.ts process.cwd',
  ])
})

/** A copy of the files, which are older than the time that is returned with it. */
async function copied(): Promise<{ folder: string; later: number }> {
  const folder = await temporaryFolder('code')
  await Promise.all(DECIDING.map(each => cp(join(source, each), join(folder, each), { recursive: true })))
  return { folder, later: Date.now() + 60_000 }
}

test('the version follows the contents and names of files, and not their times', async () => {
  const { folder, later } = await copied()
  const version = codeVersion(folder, later)
  expect(version).toBe(codeVersion(source, later))
  const file = join(folder, 'fml/compile/rule.ts')
  const text = await readFile(file, 'utf8')
  await utimes(file, 1, 1)
  expect(codeVersion(folder, later)).toBe(version)
  const versions = new Set([version])
  for (const each of DECIDING) {
    await writeFile(join(folder, each, 'more.json'), '{}')
    versions.add(codeVersion(folder, later))
  }
  await writeFile(file, text.replace('rule', 'ruel'))
  versions.add(codeVersion(folder, later))
  await writeFile(file, text)
  await rename(file, join(folder, 'fml/compile/rules.ts'))
  versions.add(codeVersion(folder, later))
  expect(versions.size).toBe(DECIDING.length + 3)
  expect(versions).not.toContain(undefined)
})

test('there is no version where a file has changed since the process began, or cannot be read', async () => {
  const { folder, later } = await copied()
  expect(codeVersion(folder, later)).toBeDefined()
  const begun = Date.now() - 60_000
  expect(codeVersion(folder, begun)).toBeUndefined()
  await utimes(join(folder, 'lib/json.ts'), 1, 1)
  expect(codeVersion(folder, begun)).toBeUndefined()
  await rename(join(folder, 'lib'), join(folder, 'library'))
  expect(codeVersion(folder, later)).toBeUndefined()
})
