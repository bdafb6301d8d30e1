// How a problem looks in a terminal.

import { expect, test } from 'vitest'
import { parse } from '../../src/fml/parser.ts'
import { render } from '../../src/fml/render.ts'

function first(text: string): string {
  return render(parse(text, 'births.fml').problems[0]!, text)
}

test('the place, the message, the line with the place underlined, the way out', () => {
  expect(first('\ngrup G(source a, target b) {\n}\n')).toBe(
    `births.fml:2:1: \`grup\` is unknown; did you mean \`group\`?
   2 | grup G(source a, target b) {
     | ^^^^
     = write \`group\``,
  )
})

test('what is missing is shown where it belongs', () => {
  expect(first('group G(source a, target b) {\n  a.x -> b.x\n}\n').split('\n').slice(1)).toEqual([
    '   2 |   a.x -> b.x',
    '     |             ^',
    '     = add `;`',
  ])
})

test('tabs and wide characters do not move the mark', () => {
  expect(
    first("group G(source a, target b) {\n\ta.x -> b.x = '患者' wiht;\n\ta.x -> b.x = '患者' § ;\n}\n")
      .split('\n')
      .slice(1, 3),
  ).toEqual(["   3 |   a.x -> b.x = '患者' § ;", '     |                       ^'])
})

test('a long line is cut around the place', () => {
  const [, line, mark] = first(
    `group G(source a, target b) {\n  ${'a.x -> b.x; '.repeat(50)} § ${'a.x -> b.x; '.repeat(50)}\n}\n`,
  ).split('\n')
  expect(line!.length).toBeLessThan(120)
  expect(line![mark!.indexOf('^')]).toBe('§')
})
