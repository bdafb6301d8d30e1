// The texts of the portal: the same ones in each language, with the same values in them, and none that no page shows.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import en from '../../../src/api/portal/texts/en.json' with { type: 'json' }
import fr from '../../../src/api/portal/texts/fr.json' with { type: 'json' }
import { translator } from '../../../src/api/portal/texts.ts'

const folder = join(import.meta.dirname, '../../../src/api/portal')
const valuesIn = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).sort()

test('each language has the same texts with the same values, and none is empty', () => {
  expect(Object.keys(fr)).toEqual(Object.keys(en))
  for (const [key, text] of Object.entries(en)) {
    const other = (fr as Record<string, string>)[key]!
    expect([key, valuesIn(other)]).toEqual([key, valuesIn(text)])
    expect([text.trim(), other.trim()].includes('')).toBe(false)
  }
})

test('each text stands in a page', () => {
  const code = globSync('**/*.ts', { cwd: folder })
    .map(name => readFileSync(join(folder, name), 'utf8'))
    .join('\n')
  // A key that is put together counts as used by what it begins with: t(`agents.${name}`).
  const made = [...code.matchAll(/`(\w+(?:\.\w+)*\.)\$\{/g)].map(([, start]) => start!)
  const unused = Object.keys(en).filter(key => !code.includes(`'${key}'`) && !made.some(start => key.startsWith(start)))
  expect(unused).toEqual([])
})

test('values are put in as they are, and what is not given is nothing', () => {
  expect(translator('en')('agents.clock.ahead', { time: '3 $& minutes' })).toBe('3 $& minutes ahead')
  expect(translator('fr')('home.roles')).toBe('Vos rôles : .')
})
