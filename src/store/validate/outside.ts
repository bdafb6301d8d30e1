// Codes that are defined outside of FHIR: units, media types, languages and currencies.
// https://hl7.org/fhir/R4/terminologies-systems.html

import { isUcumCode, LONGEST_UCUM } from '../../fhirpath/ucum-code.ts'
import { quoted } from './issues.ts'

/**
 * Returns undefined for a code of the system; else the problem, as the rest of a sentence, computed only when needed, since a
 * suggestion costs more than the check.
 */
export type Judge = (code: string) => (() => string) | undefined

const MEDIA_TYPES = 'urn:ietf:bcp:13'
const LANGUAGES = 'urn:ietf:bcp:47'
export const UNITS = 'http://unitsofmeasure.org'
const CURRENCIES = 'urn:iso:std:iso:4217'

const judges: ReadonlyMap<string, Judge> = new Map([
  [UNITS, unitProblem],
  [MEDIA_TYPES, mediaTypeProblem],
  [LANGUAGES, languageProblem],
  [CURRENCIES, currencyProblem],
])

/** Value sets that are a whole system. */
const systemsOfSets: Readonly<Record<string, string>> = {
  'http://hl7.org/fhir/ValueSet/ucum-units': UNITS,
  'http://hl7.org/fhir/ValueSet/mimetypes': MEDIA_TYPES,
  'http://hl7.org/fhir/ValueSet/all-languages': LANGUAGES,
  'http://hl7.org/fhir/ValueSet/currencies': CURRENCIES,
}

/** Checks the codes of a system; undefined for unknown systems. */
export function judgeOf(system: string): Judge | undefined {
  return judges.get(system)
}

/** The system that a value set consists of, where that is one of these. */
export function systemOfSet(url: string): string | undefined {
  return Object.hasOwn(systemsOfSets, url) ? systemsOfSets[url] : undefined
}

/** Units that are often written otherwise. Only what can mean nothing else stands here: `mcg` is near to `mg`, and a thousandth of it. */
const MEANT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    mmHg: 'mm[Hg]',
    cmH2O: 'cm[H2O]',
    '°C': 'Cel',
    degC: 'Cel',
    '°F': '[degF]',
    degF: '[degF]',
    mcg: 'ug',
    µg: 'ug',
    μg: 'ug',
    'mcg/L': 'ug/L',
    'µg/L': 'ug/L',
    'μg/L': 'ug/L',
    'µmol/L': 'umol/L',
    'μmol/L': 'umol/L',
    IU: '[IU]',
    'IU/L': '[IU]/L',
    'IU/mL': '[IU]/mL',
    mEq: 'meq',
    'mEq/L': 'meq/L',
    'mm/hr': 'mm/h',
    'mL/hr': 'mL/h',
    'ml/hr': 'mL/h',
    bpm: '/min',
  }),
)

/** Codes of UCUM that were met before: data has few different ones, each very often. */
const units = new Set<string>()
const mostUnits = 1000

// https://ucum.org/ucum
function unitProblem(code: string): ReturnType<Judge> {
  if (units.has(code)) return undefined
  if (!isUcumCode(code)) return () => unitMessage(code)
  if (units.size < mostUnits) units.add(code)
  return undefined
}

function unitMessage(code: string): string {
  if (code.length > LONGEST_UCUM) return `is longer than ${LONGEST_UCUM} characters, the limit for a UCUM code`
  const meant = MEANT.get(code)
  return `is not a UCUM code: ${quoted(code)}${meant ? `; did you mean ${quoted(meant)}?` : ''}`
}

const NAME = '[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}'
const mediaType = new RegExp(`^${NAME}/${NAME}(?: ?;.*)?$`)

// https://www.rfc-editor.org/rfc/rfc6838#section-4.2; parameters are left alone: R4's own examples have `variant=DICOM STOW-RS`.
function mediaTypeProblem(code: string): ReturnType<Judge> {
  return mediaType.test(code) ? undefined : () => `is not a media type such as application/pdf: ${quoted(code)}`
}

const languageTag = new RegExp(
  [
    '^(?:(?<short>[a-z]{2})|[a-z]{3}|[a-z]{4}|[a-z]{5,8})(?:-[a-z]{3}){0,3}', // language
    '(?:-[a-z]{4})?', // script
    '(?:-(?:[a-z]{2}|\\d{3}))?', // region
    '(?:-(?:[a-z\\d]{5,8}|\\d[a-z\\d]{3}))*', // variants
    '(?:-[a-wyz\\d](?:-[a-z\\d]{2,8})+)*', // extensions
    '(?:-x(?:-[a-z\\d]{1,8})+)?$|^x(?:-[a-z\\d]{1,8})+$', // private use
  ].join(''),
  'i',
)

/** Tags that are older than the syntax. */
const grandfathered = new Set(
  'en-gb-oed i-ami i-bnn i-default i-enochian i-hak i-klingon i-lux i-mingo i-navajo i-pwn i-tao i-tay i-tsu sgn-be-fr sgn-be-nl sgn-ch-de'.split(
    ' ',
  ),
)

/** ISO 639-1 and its former codes: every language of two letters in the registry, to which none are added any more. */
const twoLetters = new Set(
  (
    'aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et eu ' +
    'fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik in io is it iu iw ja ji jv jw ka kg ki kj ' +
    'kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb nd ne ng nl nn no nr nv ny ' +
    'oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl ' +
    'tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu'
  ).split(' '),
)

// https://www.rfc-editor.org/rfc/rfc5646#section-2.1
function languageProblem(code: string): ReturnType<Judge> {
  const match = languageTag.exec(code)
  if (!match)
    return grandfathered.has(code.toLowerCase())
      ? undefined
      : () => `is not a language tag such as fr-CM: ${quoted(code)}`
  const short = match.groups!.short?.toLowerCase()
  if (short === undefined || twoLetters.has(short)) return undefined
  return () => `is not a language tag: there is no language ${quoted(match.groups!.short!)}`
}

/** Made when the first currency is met: it takes longer than the rest of a start of this module. */
let currencyNames: Intl.DisplayNames | undefined
/** Results for codes checked before: a claim has hundreds of amounts, and checking a name takes longer than all other checks. */
const currencies = new Map<string, boolean>()

function currencyProblem(code: string): ReturnType<Judge> {
  let isKnown = currencies.get(code)
  if (isKnown === undefined) {
    isKnown =
      /^[A-Z]{3}$/.test(code) &&
      (currencyNames ??= new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' })).of(code) !== undefined
    if (code.length === 3 && currencies.size < 1000) currencies.set(code, isKnown)
  }
  return isKnown ? undefined : () => `is not a currency of ISO 4217 such as XAF: ${quoted(code)}`
}
