// A data set at an address, for tests that start no service.
import { type Base, createBase } from '../../src/store/base.ts'
import type { DataSet } from '../../src/store/data-set.ts'

export const baseOf = (origin: string): Base => createBase({ origin, addresses: [], path: '/api/fhir/R4' })

export const dataSetAt = (origin: string): DataSet => ({ origin, issuer: origin, addresses: [origin], unsettled: [] })
