// What the sample receiver prints of each delivery: lines for people, or one line of JSON.
import type { Receipt } from './receive.ts'

/** Ends with a line break. */
export function show(receipt: Receipt, isJson: boolean): string {
  return isJson ? jsonLine(receipt) : forPeople(receipt)
}

function jsonLine({ time, status, error, event, times }: Receipt): string {
  return `${JSON.stringify({ received_at: time, status, error, times, event })}\n`
}

function forPeople({ time, status, error, event, times }: Receipt): string {
  const start = `${new Date(time).toTimeString().slice(0, 8)}  ${status}  `
  if (!event) return `${start}${error}\n`
  const again = times > 1 ? `  (the same event, for the ${ordinal(times)} time)` : ''
  const lines = [`${start}${event.type}  ${event.id}${again}`, error, dataOf(event.data)]
  return `${lines.filter(Boolean).join(indented)}\n`
}

const indented = '\n          '

function ordinal(number: number): string {
  const rest = number % 100
  const ending = rest >= 11 && rest <= 13 ? undefined : endings[number % 10]
  return `${number}${ending ?? 'th'}`
}

const endings: Readonly<Record<number, string>> = { 1: 'st', 2: 'nd', 3: 'rd' }

function dataOf(data: unknown): string {
  const line = JSON.stringify(data) ?? ''
  return line.length <= 100 ? line : JSON.stringify(data, null, 2).replaceAll('\n', indented)
}
