// The texts of the portal: the same ones in each language, with the same values in them, and none that no page shows.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { problemIn } from '../../../src/api/portal/audit/problems.ts'
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
  const isNamed = (key: string) => code.includes(`'${key}'`) || made.some(start => key.startsWith(start))
  const unused = Object.keys(en).filter(key => !isNamed(key) && !isNamed(key.replace(/\.(?:one|other)$/, '')))
  expect(unused).toEqual([])
})

test('each sentence of the check of the audit trail is known in French', () => {
  const source = join(folder, '../../audit')
  const code = ['verify.ts', 'walk.ts', 'anchored.ts']
    .map(name => readFileSync(join(source, name), 'utf8'))
    .join('\n')
    .replace(/\$\{last \?.*?'none'\}/, 'number 3')
  const written = [...code.matchAll(/[`'](line \$\{[^`]*|(?:the|an) [^`']*)[`']/g)].map(([, text]) => text!)
  const sentences = written
    .filter(text => !text.startsWith('the audit trail'))
    .map(text => text.replaceAll(/\$\{seen!?\.by\}|\$\{beyond\.by\}/g, 'an earlier check'))
    .map(text => text.replaceAll(/\$\{time\}/g, '2026-05-01T10:00:00.000Z').replaceAll(/\$\{[^}]+\}/g, '7'))
    .map(text => (text.startsWith('line ') ? `anchor.jsonl, ${text}` : text))
  expect(sentences.length).toBeGreaterThan(15)
  const isBy = (text: string) => text.startsWith('the anchor of')
  for (const each of sentences) {
    const sentence = isBy(each) ? `the row differs from the row in ${each}` : each
    const french = problemIn('fr', sentence)
    expect([sentence, french]).not.toEqual([sentence, sentence])
    expect(french).not.toMatch(/\b(the|row|line|is|of)\b|\{/)
    expect(problemIn('en', sentence)).toBe(sentence)
  }
  expect(problemIn('fr', 'x, line 2: lines before it are missing: it has number 4 and follows none')).toBe(
    'x, ligne 2 : des lignes manquent avant elle : elle a le numéro 4 et n’en suit aucune',
  )
  expect(problemIn('fr', 'of another form')).toBe('of another form')
})

test('values are put in as they are, and what is not given is nothing', () => {
  expect(translator('en')('agents.clock.ahead', { time: '3 $& minutes' })).toBe('3 $& minutes ahead')
  expect(translator('fr')('home.roles')).toBe('Vos rôles : .')
})
