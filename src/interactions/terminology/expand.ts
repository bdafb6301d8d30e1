// ValueSet/$expand: the codes of a value set. https://hl7.org/fhir/R4/valueset-operation-expand.html
import { uuidv7 } from '../../lib/ids.ts'
import type { JsonObject } from '../../lib/json.ts'
import { type Member, membersOf } from '../../store/terminology/expand.ts'
import { fold } from '../../store/values.ts'
import type { FhirReply } from '../request.ts'
import { countOf, flagOf, type Inputs, subjectOf, textOf } from './inputs.ts'
import { displayIn, namesOf } from './languages.ts'

export const expandTakes = {
  url: 'Canonical URL of the value set, optionally with |version.',
  valueSetVersion: 'The version of the value set.',
  filter: 'Words that the code or its display must contain, in any language.',
  count: 'Codes per page.',
  offset: 'Codes to skip before the page.',
  activeOnly: 'true omits inactive codes.',
  excludeNotForUI: 'true omits codes that cannot be selected.',
  includeDefinition: 'true includes the definition of the value set.',
  includeDesignations: 'true includes the designations of each code.',
  excludeNested: 'Accepted and ignored: expansions are flat.',
  displayLanguage: 'The language of displays, such as fr. Codes without a name in it keep their own display.',
}

export const valueSetNaming = { type: 'ValueSet', inline: 'valueSet', version: 'valueSetVersion' } as const

export async function expand(inputs: Inputs): Promise<FhirReply> {
  const [filter, count, offset] = [textOf(inputs, 'filter'), countOf(inputs, 'count'), countOf(inputs, 'offset') ?? 0]
  const excludeNotForUI = flagOf(inputs, 'excludeNotForUI')
  const [activeOnly, withDefinition] = [flagOf(inputs, 'activeOnly'), flagOf(inputs, 'includeDefinition')]
  const [language, withDesignations] = [textOf(inputs, 'displayLanguage'), flagOf(inputs, 'includeDesignations')]
  const valueSet = await subjectOf(inputs, valueSetNaming)
  const members = [...(await membersOf(inputs.library, valueSet)).values()]
    .filter(member => !activeOnly || !member.inactive)
    .filter(member => !excludeNotForUI || !member.abstract)
    .filter(matcher(filter))
  const shown = members.slice(offset, count === undefined ? undefined : offset + count)
  const { meta: _meta, text: _text, contained: _contained, compose, expansion: _expansion, ...about } = valueSet
  const expansion = {
    identifier: `urn:uuid:${uuidv7()}`,
    timestamp: new Date().toISOString(),
    total: members.length,
    ...(count !== undefined || offset > 0 ? { offset } : {}),
    parameter: applied({ filter, count, offset, activeOnly, excludeNotForUI, language, withDesignations }, members),
    contains: shown.map(each => contained(each, language, withDesignations)),
  }
  const body = { ...about, ...(withDefinition && compose ? { compose } : {}), expansion: withoutEmpty(expansion) }
  return { status: 200, body: JSON.stringify(body) }
}

/** Every word of the filter is found in the code or one of its names, whatever their case and accents. */
function matcher(filter: string | undefined): (member: Member) => boolean {
  const words = fold(filter ?? '')
    .split(/\s+/)
    .filter(Boolean)
  return member => {
    const texts = [member.code, ...namesOf(member)].map(fold)
    return words.every(word => texts.some(text => text.includes(word)))
  }
}

interface Applied {
  readonly filter: string | undefined
  readonly count: number | undefined
  readonly offset: number
  readonly activeOnly: boolean
  readonly excludeNotForUI: boolean
  readonly language: string | undefined
  readonly withDesignations: boolean
}

/** What the expansion was made with: the parameters that shaped it, and the versions of the systems it drew upon. */
function applied(given: Applied, members: readonly Member[]): JsonObject[] {
  const { filter, count, offset, activeOnly, excludeNotForUI, language, withDesignations } = given
  const systems = new Set(members.flatMap(({ system, version }) => (version ? [`${system}|${version}`] : [])))
  return [
    ...(filter === undefined ? [] : [{ name: 'filter', valueString: filter }]),
    ...(count === undefined ? [] : [{ name: 'count', valueInteger: count }]),
    ...(offset === 0 ? [] : [{ name: 'offset', valueInteger: offset }]),
    ...(activeOnly ? [{ name: 'activeOnly', valueBoolean: true }] : []),
    ...(excludeNotForUI ? [{ name: 'excludeNotForUI', valueBoolean: true }] : []),
    ...(language === undefined ? [] : [{ name: 'displayLanguage', valueCode: language }]),
    ...(withDesignations ? [{ name: 'includeDesignations', valueBoolean: true }] : []),
    ...[...systems].map(valueUri => ({ name: 'version', valueUri })),
  ]
}

function contained(member: Member, language: string | undefined, withDesignations: boolean): JsonObject {
  const { system, version, code, inactive, abstract, designations } = member
  return {
    system,
    version,
    code,
    display: displayIn(member, language),
    ...(abstract ? { abstract } : {}),
    ...(inactive ? { inactive } : {}),
    ...(withDesignations && designations ? { designation: designations } : {}),
  }
}

/** FHIR has no empty arrays. */
const withoutEmpty = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => !Array.isArray(value) || value.length > 0))
