import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { shapes } from '../../src/shapes/all.ts'
import { AllergyRecord } from '../../src/shapes/allergy.ts'
import { PaymentRecord } from '../../src/shapes/payment.ts'

interface Described {
  readonly $id?: string
  readonly description?: string
  readonly properties?: Record<string, Described>
  readonly items?: Described
  readonly anyOf?: readonly Described[]
}

/** Fields that nobody has described, with those of records within records. */
function silent(shape: Described, path: string): string[] {
  const inner = [
    ...Object.entries(shape.properties ?? {}).map(([name, each]) => [`${path}.${name}`, each] as const),
    ...(shape.items ? [[`${path}[]`, shape.items] as const] : []),
    ...(shape.anyOf ?? []).filter(each => each.properties ?? each.items).map(each => [path, each] as const),
  ]
  return [...(shape.description ? [] : [path]), ...inner.flatMap(([name, each]) => silent(each, name))]
}

describe('the shapes of records', () => {
  test('each has a name of its own, and all their fields are described', () => {
    const described = shapes as readonly Described[]
    expect(new Set(described.map(each => each.$id)).size).toBe(shapes.length)
    expect(described.flatMap(each => silent(each, each.$id ?? '?'))).toEqual([])
  })

  test('an allergy with a field that nobody knows, or of a severity that nobody knows, is refused', () => {
    const allergy = {
      id: '5d0c7b9a-3e61-4f28-9c84-a1b2e6f07d35',
      patient_id: '3f2b8c1e-9d47-4a6b-8e15-2c7f0a9b4d31',
      substance: 'Pénicilline G',
      severity: 'life_threatening',
      status: 'active',
    }
    const checker = Compile(AllergyRecord)
    expect(checker.Check(allergy)).toBe(true)
    expect(checker.Check({ ...allergy, provider_id: null, created_at: null })).toBe(true)
    expect(checker.Check({ ...allergy, severity: 'lethal' })).toBe(false)
    expect(checker.Check({ ...allergy, colour: 'red' })).toBe(false)
    expect(checker.Check({ ...allergy, patient_id: 'amina bello' })).toBe(false)
    expect(checker.Check({ ...allergy, created_at: '2026-03-14' })).toBe(false)
  })

  test('money is written in digits, never as a number', () => {
    const payment = {
      reconciliation_id: 'rec-1',
      transaction_reference: 'MP1',
      provider: 'MTN MoMo',
      currency: 'XAF',
      status: 'matched',
      paid_at: '2026-03-14T10:42:00+01:00',
    }
    const checker = Compile(PaymentRecord)
    expect(checker.Check({ ...payment, amount: '15000.50' })).toBe(true)
    expect(checker.Check({ ...payment, amount: 15000.5 })).toBe(false)
    expect(checker.Check({ ...payment, amount: '15 000' })).toBe(false)
  })
})
