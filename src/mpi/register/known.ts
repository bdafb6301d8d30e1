// What a message states of a person where it knows nothing (`stand_ins` of mappings/matching.json) replaces nothing that is known.
import { type JsonObject, objectsIn } from '../../lib/json.ts'
import { words } from '../matching/names.ts'
import { phoneOf } from '../matching/person.ts'
import { isStandIn, type StandIns } from '../matching/stand-ins.ts'

/** Returns the demographics that are sent, without those in place of which something better is stored. */
export function withoutStandIns(sent: JsonObject, stored: JsonObject, standIns: StandIns): JsonObject {
  const isBetter = { birthDate: isDate, name: isNamed, telecom: isReached } as const
  const worse = Object.entries(isBetter).filter(
    ([member, isKnown]) =>
      sent[member] !== undefined && isKnown(stored[member], standIns) && !isKnown(sent[member], standIns),
  )
  const left = new Set(worse.flatMap(([member]) => [member, `_${member}`]))
  return Object.fromEntries(Object.entries(sent).filter(([member]) => !left.has(member)))
}

const isDate = (date: unknown, { birthDates }: StandIns): boolean => typeof date === 'string' && !birthDates.has(date)

/** True if one of the names says who the person is: its given name is more than what forms state where none is known. */
const isNamed = (names: unknown, standIns: StandIns): boolean =>
  objectsIn(names).some(({ given }) => {
    const found = Array.isArray(given) ? words(given.join(' ')) : []
    return found.length > 0 && !isStandIn(found, standIns)
  })

/** True if one of the contacts is none that stands for a number that is not known. */
const isReached = (contacts: unknown, { phones }: StandIns): boolean =>
  objectsIn(contacts).some(({ value }) => typeof value === 'string' && !phoneOf(value).some(each => phones.has(each)))
