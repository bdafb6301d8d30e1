import { expect, test } from 'vitest'
import { createCompany } from '../../src/lib/company.ts'

function clocked() {
  let time = 0
  return { company: createCompany(() => time), pass: (milliseconds: number) => void (time += milliseconds) }
}

test('a client is alone until another one sends a request, and a second after its last one', () => {
  const { company, pass } = clocked()
  expect(company.isAlone('one')).toBe(true)
  company.note('one')
  company.note('one')
  expect([company.isAlone('one'), company.isAlone('other')]).toEqual([true, false])
  company.note('other')
  expect([company.isAlone('one'), company.isAlone('other')]).toEqual([false, false])
  pass(1000)
  expect(company.isAlone('one')).toBe(false)
  pass(1)
  expect(company.isAlone('one')).toBe(true)
})

test('however often a client asks, it is not alone while another one does', () => {
  const { company, pass } = clocked()
  company.note('other')
  for (let count = 0; count < 10; count++) {
    pass(100)
    company.note('one')
  }
  expect(company.isAlone('one')).toBe(false)
  company.note('other')
  company.note('one')
  company.note('third')
  pass(600)
  company.note('other')
  pass(600)
  expect([company.isAlone('one'), company.isAlone('other'), company.isAlone('third')]).toEqual([false, true, false])
})
