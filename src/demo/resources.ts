// The demo set in an order in which each resource comes after those it refers to.
import type { JsonObject } from '../lib/json.ts'
import { demoBilling } from './billing.ts'
import { demoCare } from './care.ts'
import { demoCommunication } from './communication.ts'
import { consents } from './consents.ts'
import { type Clock, clockAt, network, organization } from './fhir.ts'
import { demoImaging } from './imaging.ts'
import { demoInventory } from './inventory.ts'
import { demoMaternity } from './maternity.ts'
import { people } from './people.ts'
import { demoPlaces } from './places.ts'
import { record } from './record.ts'
import { demoResearch } from './research.ts'
import { demoStaff } from './staff.ts'
import { demoToday } from './today.ts'

/** The addresses under which the data set names things. */
export interface Systems {
  readonly healthId: string
  /** Below it are the other naming systems of the service. */
  readonly below: string
}

/** @param now from which are counted: days of expiry, today's visits, and appointments that lie ahead */
export function demoResources(systems: Systems, now: Date): JsonObject[] {
  const clock: Clock = clockAt(now)
  return [
    ...demoPlaces(),
    ...demoStaff(clock),
    ...people.flatMap(person => [...record(person, systems.healthId), ...consents(person)]),
    ...demoToday(clock),
    ...demoMaternity(clock),
    ...demoImaging(),
    ...demoCare(clock),
    ...demoBilling(clock),
    ...demoCommunication(clock),
    ...demoResearch(),
    ...demoInventory(systems.below, { hospital: organization, organization: network }, now),
  ]
}
