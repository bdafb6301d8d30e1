// Three letters at a time: by them the texts that contain a given one are found without reading them all.

/** The different runs of three letters of a text, each as a number of 32 bits; two runs may share one. */
export function gramsOf(text: string): number[] {
  const grams = new Set<number>()
  for (let at = 0; at + 3 <= text.length; at++)
    grams.add(
      (Math.imul(Math.imul(text.charCodeAt(at), 31_337) + text.charCodeAt(at + 1), 31_337) + text.charCodeAt(at + 2)) |
        0,
    )
  return [...grams]
}
