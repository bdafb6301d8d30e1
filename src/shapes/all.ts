// Every record shape of the interface, for whatever needs them all: OpenAPI, the models that maps are checked against.

import type { TObject } from 'typebox'
import { AllergyRecord } from './allergy.ts'
import { AppointmentRecord } from './appointment.ts'
import { BloodGroup } from './blood-group.ts'
import { BloodUnit } from './blood-unit.ts'
import { ClinicalNote } from './clinical-note.ts'
import { ConsentRecord } from './consent.ts'
import { Context } from './context.ts'
import { Demographics } from './demographics.ts'
import { Diagnosis } from './diagnosis.ts'
import { LabResult } from './lab-result.ts'
import { PaymentRecord } from './payment.ts'
import { Prescription } from './prescription.ts'
import { EncounterPush, LabResultPush } from './pushes.ts'
import { StockItem } from './stock-item.ts'
import { Visit } from './visit.ts'
import { VitalSign } from './vital-sign.ts'

/** Each has its name as `$id`. */
export const shapes: readonly TObject[] = [
  AllergyRecord,
  AppointmentRecord,
  BloodGroup,
  BloodUnit,
  ClinicalNote,
  ConsentRecord,
  Context,
  Demographics,
  Diagnosis,
  EncounterPush,
  LabResult,
  LabResultPush,
  PaymentRecord,
  Prescription,
  StockItem,
  Visit,
  VitalSign,
]
