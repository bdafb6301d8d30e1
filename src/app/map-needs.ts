// What the surfaces require of the maps by name.
import { bridgeNeeds } from '../api/bridge/needs.ts'
import { connectNeeds } from '../api/connect/needs.ts'
import { sdkNeeds } from '../api/sdk/needs.ts'
import type { Need } from '../mapping/needs.ts'

export const mapNeeds: readonly Need[] = [...connectNeeds, ...sdkNeeds, ...bridgeNeeds]

/** What a folder must have beside sound maps so that the service serves it. */
export const servedNeeds = { needs: mapNeeds, needsMatching: true, needsConsents: true } as const
