// What is wrong with the audit trail, in the language of the page: the check says it in English, in sentences of few forms, and the
// English texts of the portal are these forms.
import { type Language, type TextKey, textsWith, translator } from '../texts.ts'

interface Form {
  readonly key: TextKey
  readonly pattern: RegExp
}

const special = /[.*+?^$()|[\]\\]/g

/** The forms of a name; those with fewer words of their own come last. */
const formsOf = (start: string): readonly Form[] =>
  textsWith(start)
    .toSorted(([, one], [, other]) => own(other) - own(one))
    .map(([key, text]) => {
      const body = text
        .replaceAll(special, each => `\\${each}`)
        .replace(/\{(\w+)\}/g, (_, name: string) => `(?<${name}>.+?)`)
      return { key, pattern: new RegExp(`^${body}$`) }
    })

const own = (text: string): number => text.replace(/\{\w+\}/g, '').length

const problems = formsOf('audit.problem.')
const witnesses = formsOf('audit.by.')

/** Returns a sentence of the check in a language; one of another form as it is. */
export const problemIn = (language: Language, sentence: string): string => said(language, problems, sentence)

function said(language: Language, forms: readonly Form[], sentence: string): string {
  for (const { key, pattern } of forms) {
    const found = pattern.exec(sentence)
    if (!found) continue
    const { by, problem, ...values } = found.groups ?? {}
    return translator(language)(key, {
      ...values,
      ...(by !== undefined && { by: said(language, witnesses, by) }),
      ...(problem !== undefined && { problem: said(language, problems, problem) }),
    })
  }
  return sentence
}
