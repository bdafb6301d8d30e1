// A tested blood group, in the two parts that laboratories report.

import { type Static, Type } from '../lib/schema.ts'
import { code, nullable } from './fields.ts'

/** Stored as Observation; a patient summary shows the two parts together. */
export const BloodGroup = Type.Object(
  {
    abo: nullable(code(['A', 'B', 'AB', 'O'], 'The ABO group.')),
    rh: nullable(code(['+', '-'], 'The Rh(D) type.')),
  },
  { $id: 'BloodGroup', description: 'A tested blood group.', additionalProperties: false },
)

export type BloodGroup = Readonly<Static<typeof BloodGroup>>
