// StructureMaps as other tools read and write them: R4's, and R5's, which is what most write now.
// https://hl7.org/fhir/R4/structuremap.html · https://hl7.org/fhir/R5/structuremap.html

import { describe, expect, test } from 'vitest'
import { compileMap } from '../../src/fml/compile.ts'
import { format } from '../../src/fml/format.ts'
import { fromStructureMap } from '../../src/fml/from-structure-map.ts'
import { parse } from '../../src/fml/parser.ts'
import { print } from '../../src/fml/print.ts'
import { toStructureMap } from '../../src/fml/structure-map.ts'
import { libraryOf, mapText } from './run-maps.ts'

interface RuleJson {
  readonly name: string
  readonly target: unknown
}

const rulesOf = (rules: string, around = {}): readonly RuleJson[] =>
  (toStructureMap(parse(mapText(rules, around)).map).resource as { group?: { rule: RuleJson[] }[] }).group![0]!.rule

describe('a StructureMap is written', () => {
  test('with context and variable for a second name, as other engines need them', () => {
    const [rule] = rulesOf('src.text as v -> tgt as t, t.text = v then Next(src, t);', {
      after: 'group Next(source s, target t) {}',
    })
    expect(rule!.target).toEqual([
      { context: 'tgt', contextType: 'variable', variable: 't' },
      { context: 't', contextType: 'variable', element: 'text', transform: 'copy', parameter: [{ valueId: 'v' }] },
    ])
    const [bare] = rulesOf('src -> tgt then Next(src, tgt);', { after: 'group Next(source s, target t) {}' })
    expect(bare!.target).toEqual([{ context: 'tgt', contextType: 'variable' }])
  })

  test('with names of rules that the mapping language can read again', () => {
    const names = rulesOf(
      'src.text, src.other -> tgt.text = (%src.text);\nsrc.item : In.item as i -> tgt.text = (%i.code);\nsrc -> tgt: flag, number "some";\nsrc.amount -> tgt.amount;',
    ).map(each => each.name)
    expect(names).toEqual(['textOther', 'itemInItem', 'someFlag', 'someNumber', 'amount'])
    for (const name of names) expect(name).toMatch(/^[A-Za-z][A-Za-z0-9]{0,63}$/)
  })
})

/** A StructureMap that makes `Out` of `In` by these rules. */
const resource = (rule: object[], more: object = {}) => ({
  resourceType: 'StructureMap',
  url: 'http://example.org/m',
  name: 'M',
  status: 'active',
  structure: [
    { url: 'http://example.org/In', mode: 'source', alias: 'In' },
    { url: 'http://example.org/Out', mode: 'target', alias: 'Out' },
  ],
  ...more,
  group: [
    {
      name: 'Main',
      input: [
        { name: 'src', type: 'In', mode: 'source' },
        { name: 'tgt', type: 'Out', mode: 'target' },
      ],
      rule,
    },
    {
      name: 'Set',
      input: [
        { name: 'v', mode: 'source' },
        { name: 'day', mode: 'source' },
        { name: 't', mode: 'target' },
      ],
      rule: [
        {
          name: 'set',
          source: [{ context: 'v', variable: 'x' }],
          target: [
            {
              context: 't',
              element: 'text',
              transform: 'evaluate',
              parameter: [{ valueString: "%x.toString() & ' ' & %day.toString()" }],
            },
          ],
        },
      ],
    },
  ],
})

function ran(json: object, source: object): unknown {
  const { map, problems } = fromStructureMap(json)
  expect(problems).toEqual([])
  const { program, problems: found } = compileMap(map, libraryOf(), { lenient: true })
  expect(found.filter(each => each.severity !== 'warning')).toEqual([])
  return program!.run([source])
}

describe('a StructureMap of R5 is read', () => {
  test('parameters of groups that are variables and values', () => {
    const rule = {
      source: [{ context: 'src', element: 'number', variable: 'n' }],
      dependent: [{ name: 'Set', parameter: [{ valueId: 'n' }, { valueDate: '2024-02-29' }, { valueId: 'tgt' }] }],
    }
    expect(ran(resource([rule]), { number: 4 })).toEqual({ text: '4 2024-02-29' })
    const literal = {
      ...rule,
      dependent: [{ name: 'Set', parameter: [{ valueInteger: 7 }, { valueTime: '12:30:00' }, { valueId: 'tgt' }] }],
    }
    expect(ran(resource([literal]), { number: 4 })).toEqual({ text: '7 12:30:00' })
  })

  test('constants, defaults that are expressions, and parameters of targets that are moments', () => {
    const rule = {
      name: 'r',
      source: [{ context: 'src', element: 'text', defaultValue: "'none' & %mark", variable: 'v' }],
      target: [
        { context: 'tgt', element: 'text', transform: 'copy', parameter: [{ valueId: 'v' }] },
        {
          context: 'tgt',
          element: 'moment',
          transform: 'copy',
          parameter: [{ valueDateTime: '2024-02-29T10:00:00Z' }],
        },
      ],
    }
    const json = resource([rule], { const: [{ name: 'mark', value: "'!'" }] })
    expect(ran(json, {})).toEqual({ text: 'none!', moment: '2024-02-29T10:00:00Z' })
  })

  test('concept maps with relationships', () => {
    const contained = [
      {
        resourceType: 'ConceptMap',
        id: 'c',
        group: [
          {
            source: 'http://example.org/s',
            target: 'http://example.org/t',
            element: [
              {
                code: 'mild',
                target: [
                  { code: 'no', relationship: 'not-related-to' },
                  { code: 'low', relationship: 'source-is-narrower-than-target' },
                ],
              },
            ],
          },
        ],
      },
    ]
    const rule = {
      name: 'r',
      source: [{ context: 'src', element: 'severity', variable: 'v' }],
      target: [
        {
          context: 'tgt',
          element: 'text',
          transform: 'translate',
          parameter: [{ valueId: 'v' }, { valueString: '#c' }, { valueString: 'code' }],
        },
      ],
    }
    expect(ran(resource([rule], { contained }), { severity: 'mild' })).toEqual({ text: 'low' })
  })
})

test('names that engines give to rules by themselves are not kept, whichever engine it was', () => {
  const rule = (name: string) => ({
    name,
    source: [{ context: 'src', element: 'item', type: 'In.item', variable: 'i' }],
    target: [{ context: 'tgt', element: 'text', transform: 'copy', parameter: [{ valueString: 'x' }] }],
  })
  for (const name of ['item-In.item', 'itemInItem'])
    expect(print(fromStructureMap(resource([rule(name)])).map)).toContain("src.item : In.item as i -> tgt.text = 'x';")
})

test('an alias in quotation marks is understood, told, and written without them', () => {
  const text = mapText('src.text -> tgt.text;').replace('alias In', "alias 'In'")
  const { map, problems } = parse(text)
  expect(problems).toMatchObject([
    { severity: 'warning', message: 'write a name without quotation marks: `alias In`', fix: { replacement: 'In' } },
  ])
  expect(compileMap(map, libraryOf()).program!.run([{ text: 'x' }])).toEqual({ text: 'x' })
  expect(format(text)).toContain('alias In as source')
})
