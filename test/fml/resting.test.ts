// Compiled maps that rest until they run.

import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { resting } from '../../src/fml/compile/resting.ts'
import { mappingSet } from '../../src/mapping/set.ts'
import { shapes, toFhir } from '../mapping/support.ts'
import { compileText, mapText } from './run-maps.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** What nothing refers to is gone when it resolves. */
async function forgotten(): Promise<void> {
  for (let times = 0; times < 3; times++) {
    await turn()
    collectGarbage()
  }
}

const text = mapText('src.text as t -> tgt.text = t;')
const compile = () => compileText(text).program!

test('a map that nobody ran is compiled again for its first run, and once', async () => {
  let compiled = 0
  const again = () => {
    compiled++
    return compile()
  }
  const program = resting(compile(), again)
  await forgotten()
  expect(compiled).toBe(0)
  for (const word of ['one', 'two']) expect(program.run([{ text: word }])).toEqual({ text: word })
  await forgotten()
  expect(program.run([{ text: 'three' }])).toEqual({ text: 'three' })
  expect(compiled).toBe(1)
})

test('a map that rests says what it takes and gives', () => {
  const { run: _, ...said } = compile()
  expect(resting(compile(), compile)).toMatchObject(said)
})

test('a map of a set finds its imports again when it is compiled for its first run', async () => {
  const codes = toFhir.slice(toFhir.indexOf('conceptmap'), toFhir.indexOf('uses'))
  const name = 'https://ward.example/codes/allergy'
  const importing = toFhir.replace(codes, `imports "${name}"\n`).replace('#criticality', `${name}#criticality`)
  const texts = { 'codes.fml': `/// url = '${name}'\n\n${codes}`, 'a.fml': importing }
  const files = Object.entries(texts).map(([file, text]) => ({ path: `mappings/${file}`, name: file, text }))
  const program = mappingSet(files, { shapes }).mappings.get('a')!.program!
  await forgotten()
  const whole = compileSet(toFhir)
  const source = { id: 'a1', patient_id: 'p1', substance: 'Peanuts', severity: 'severe' }
  expect(program.run([source])).toEqual(whole.run([source]))
})

function compileSet(text: string) {
  const set = mappingSet([{ path: 'mappings/a.fml', name: 'a.fml', text }], { shapes })
  return set.mappings.get('a')!.program!
}
