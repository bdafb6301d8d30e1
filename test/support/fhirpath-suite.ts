// HL7's own FHIRPath tests for R4, and how one of them is run.
// https://github.com/FHIR/fhir-test-cases/blob/master/r4/fhirpath/tests-fhir-r4.xml

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { typeModel } from '../../src/definitions/r4.ts'
import { compileBoolean, compileTyped, type Typed } from '../../src/fhirpath/compile.ts'
import { FhirPathError } from '../../src/fhirpath/errors.ts'
import { sharedData } from './data.ts'
import { fhirFromXml } from './fhir-xml.ts'
import { parseXml, type XmlElement } from './xml.ts'

export interface SuiteTest {
  readonly group: string
  readonly name: string
  readonly input?: string
  readonly expression: string
  /** The expression must be refused: when read (`syntax`), checked (`semantic`) or run (`execution`). */
  readonly invalid?: string
  /** Only whether there is a result matters. */
  readonly predicate: boolean
  readonly ordered: boolean
  readonly outputs: readonly { readonly type?: string; readonly text: string }[]
}

const folder = sharedData('conformance/hl7-fhir-test-cases-r4/r4')

/** The tests by group; undefined when they are not on this machine. */
export function readSuite(): Map<string, SuiteTest[]> | undefined {
  if (!folder) return undefined
  const suite = parseXml(readFileSync(join(folder, 'fhirpath/tests-fhir-r4.xml'), 'utf8'))
  const groups = new Map<string, SuiteTest[]>()
  for (const group of suite.children) {
    const name = group.attributes.name ?? ''
    groups.set(
      name,
      group.children.filter(child => child.name === 'test').map(test => readTest(name, test)),
    )
  }
  return groups
}

function readTest(group: string, { attributes, children }: XmlElement): SuiteTest {
  const expression = children.find(child => child.name === 'expression')!
  return {
    group,
    name: attributes.name ?? '',
    input: attributes.inputfile,
    expression: expression.text,
    invalid: expression.attributes.invalid ?? attributes.invalid,
    predicate: attributes.predicate === 'true',
    ordered: attributes.ordered !== 'false',
    outputs: children
      .filter(child => child.name === 'output')
      .map(({ attributes: { type }, text }) => ({ type, text })),
  }
}

const inputs = new Map<string, unknown>()

function inputOf({ input }: SuiteTest): unknown {
  if (!input || !folder) return undefined
  if (!inputs.has(input)) {
    const text = readFileSync(join(folder, input), 'utf8')
    inputs.set(input, input.endsWith('.xml') ? fhirFromXml(text) : JSON.parse(text))
  }
  return inputs.get(input)
}

/** Undefined if the test passes, else what is wrong. */
export function runSuiteTest(test: SuiteTest): string | undefined {
  let found: string[]
  try {
    found = evaluate(test)
  } catch (error) {
    if (!(error instanceof FhirPathError)) return `crashes: ${error instanceof Error ? error.stack : error}`
    if (!test.invalid) return `is refused: ${error.message}`
    const tooLate = test.invalid === 'syntax' && error.phase !== 'syntax'
    return tooLate ? `is refused as ${error.phase} error only` : undefined
  }
  if (test.invalid) return `is accepted, but should be a ${test.invalid} error; gives ${found.join(', ') || 'nothing'}`
  const expected = test.outputs.map(({ type, text }) => expectedText(type, text))
  if (!test.ordered) {
    found.sort()
    expected.sort()
  }
  const same = found.length === expected.length && expected.every((one, i) => matches(one, found[i]!))
  return same ? undefined : `gives ${found.join(', ') || 'nothing'} instead of ${expected.join(', ') || 'nothing'}`
}

function evaluate(test: SuiteTest): string[] {
  const focus = inputOf(test)
  const type = (focus as { resourceType?: string } | undefined)?.resourceType
  const options = { model: { typeModel }, type }
  if (test.predicate) return [`boolean ${compileBoolean(test.expression, options)(focus)}`]
  return compileTyped(test.expression, options)(focus).map(foundText)
}

function expectedText(type: string | undefined, text: string): string {
  return `${type ?? '*'} ${text.replace(/^@T?/, '')}`
}

function foundText({ type, value }: Typed): string {
  const name = type.replace('System.', '')
  const quantity = value as { value?: unknown; code?: unknown; unit?: unknown }
  if (name === 'Quantity') return `Quantity ${quantity.value} '${quantity.code ?? quantity.unit}'`
  return `${name.charAt(0).toLowerCase()}${name.slice(1)} ${value}`
}

/** Types where the test names one; decimals by their number, since results are JSON numbers. */
function matches(expected: string, found: string): boolean {
  const [, type, value] = /^(\S+) ?([\s\S]*)$/.exec(expected)!
  const [, foundType, foundValue] = /^(\S+) ?([\s\S]*)$/.exec(found)!
  if (type !== '*' && type !== foundType) return false
  return value === foundValue || (numeric(value!) && trimmed(value!) === trimmed(foundValue!))
}

function numeric(text: string): boolean {
  return /^-?\d+\.\d+( '.*')?$/.test(text)
}

function trimmed(text: string): string {
  return text.replace(/^(-?\d+(?:\.\d*?)?)0*(?= |$)/, '$1').replace(/\.(?= |$)/, '')
}
