// Transforms of texts: `truncate`, `escape`, `append` and `cast`. https://hl7.org/fhir/R4/valueset-map-transform.html

import { EMPTY, type Typed, typed } from '../../fhirpath/node.ts'
import { didYouMean, nearest } from '../../lib/nearest.ts'
import type { Invocation } from '../ast.ts'
import { shown } from '../problem.ts'
import { type Convert, converter } from '../run/convert.ts'
import { escapeText, FORMATS } from '../run/escape.ts'
import { Refusal } from '../run/map-error.ts'
import { ofText, simple, single, textIn } from './computed.ts'
import { replacing, report, type Scope } from './scope.ts'
import type { Value } from './value.ts'

const LENGTH = 'the length is a whole number of characters, such as 20'

export function truncate([text, length]: readonly Value[], { args }: Invocation, scope: Scope): Value | undefined {
  if (length?.constant && !isLength(length.constant.value)) {
    report(scope, args[1]!.span, LENGTH)
    return undefined
  }
  return ofText('System.String', text, (found, frame) => {
    const most = single(length, frame)?.value
    if (!isLength(most)) throw new Refusal(LENGTH)
    return found.length <= most ? found : [...found].slice(0, most).join('')
  })
}

function isLength(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0
}

export function escaped(args: readonly Value[], { args: written }: Invocation, scope: Scope): Value | undefined {
  const formats = args.slice(1)
  const wrong = formats.findIndex(({ constant }) => constant && !FORMATS.has(String(constant.value)))
  if (wrong >= 0) {
    unknownFormat(String(formats[wrong]!.constant!.value), written[wrong + 1]!.span, scope)
    return undefined
  }
  const [from, to] = args.length === 2 ? [undefined, args[1]] : formats
  return ofText('System.String', args[0], (found, frame) =>
    escapeText(found, textIn(from, frame) ?? 'text', textIn(to, frame) ?? 'text'),
  )
}

function unknownFormat(name: string, span: Invocation['span'], scope: Scope): void {
  const names = [...FORMATS.keys()]
  const meant = nearest(name, names)
  const question = didYouMean(meant, `; there are ${names.join(', ')}`)
  const message = `${shown(name)} is not an escape format${question}`
  report(scope, span, message, replacing(span, meant && `'${meant}'`))
}

/** Nothing where one of the parts has no value: half an address is worse than none. */
export function append(parts: readonly Value[]): Value {
  return simple('System.String', frame => {
    let text = ''
    for (const part of parts) {
      const found = textIn(part, frame)
      if (found === undefined) return EMPTY
      text += found
    }
    return [typed(text, 'System.String')]
  })
}

const PRIMITIVES =
  'string code id uri url canonical oid uuid markdown integer positiveInt unsignedInt decimal boolean date dateTime instant time base64Binary'.split(
    ' ',
  )

export function cast([value, type]: readonly Value[], { args }: Invocation, scope: Scope): Value | undefined {
  if (!type || !value) return value
  const { system } = scope.build
  const to = String(type.constant?.value ?? '')
  if (!system.isPrimitive(to)) {
    const meant = nearest(to, PRIMITIVES)
    const question = didYouMean(meant, `; there are ${PRIMITIVES.join(', ')}`)
    const { span } = args[1]!
    const message = `${shown(to)} is not a type for cast${question}`
    report(scope, span, message, replacing(span, meant && `'${meant}'`))
    return undefined
  }
  const types = value.types ?? []
  if (types.length > 0 && types.every(each => converter(system, each, to, true) === undefined)) {
    report(scope, args[0]!.span, `a value of type ${types.join(' or ')} cannot become ${to}`)
    return undefined
  }
  return casting(value, to, scope)
}

function casting(value: Value, to: string, { build: { system } }: Scope): Value {
  const converters = new Map<string, Convert | undefined>()
  const convert = ({ type, value: own }: Typed): unknown => {
    let found = converters.get(type)
    if (!found && !converters.has(type))
      converters.set(type, (found = converter(system, type || 'System.String', to, true)))
    if (!found) throw new Refusal(`a value of type ${type} cannot become ${to}`)
    return found(own)
  }
  return simple(to, frame => {
    const cast: Typed[] = []
    for (const item of value.run(frame)) {
      const { path, sibling } = item
      if (item.value !== undefined) cast.push({ value: convert(item), type: to, path, sibling })
    }
    return cast
  })
}
