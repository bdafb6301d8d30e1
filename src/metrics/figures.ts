// Figures as plain data, which travels between processes, is added up, and is written in Prometheus' text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
import { createRequire } from 'node:module'
import type { AggregatorRegistry as Aggregator, Registry } from 'prom-client'

const require = createRequire(import.meta.url)

/** Loaded for the first figures: the first of several processes has none of its own. */
const aggregate = (processes: readonly object[]): Registry =>
  (require('prom-client') as { AggregatorRegistry: typeof Aggregator }).AggregatorRegistry.aggregate([...processes])

/** How the figures of several processes become one. */
export type Joined = 'sum' | 'max' | 'average' | 'first' | 'omit'

/** One metric with its values, in the words of prom-client. */
export interface Figure {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly aggregator: Joined
  readonly values: readonly Value[]
}

interface Value {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number>>
  /** Absent where it is that of the metric. */
  readonly metricName?: string
}

export function gauge(name: string, help: string, ...values: readonly Value[]): Figure {
  return { name, help, type: 'gauge', aggregator: 'sum', values }
}

/** A gauge without labels. */
export const plain = (name: string, help: string, value: number): Figure => gauge(name, help, { value, labels: {} })

/** What a registry holds, without what was not measured yet, which is no number. */
export async function figuresOf(registry: Registry): Promise<Figure[]> {
  const all = (await registry.getMetricsAsJSON()) as unknown as Figure[]
  return all.map(figure => ({ ...figure, values: figure.values.filter(({ value }) => Number.isFinite(value)) }))
}

/** The figures of several processes as one. */
export function sumOf(processes: readonly (readonly Figure[])[]): Figure[] {
  return aggregate(processes).getMetricsAsArray() as unknown as Figure[]
}

/** The figures as they are scraped. */
export const textOf = (figures: readonly Figure[]): Promise<string> => aggregate([figures]).metrics()

/** The media type of that. */
export const textType = 'text/plain; version=0.0.4; charset=utf-8'
