// The texts of the portal in its languages, which are data: texts/en.json and texts/fr.json.
import en from './texts/en.json' with { type: 'json' }
import fr from './texts/fr.json' with { type: 'json' }

export const languages = ['en', 'fr'] as const

export type Language = (typeof languages)[number]

/** The name of a text. One that counts has two forms in the files: `agents.items.one`, `agents.items.other`. */
export type TextKey = keyof typeof en | Counted<keyof typeof en>

type Counted<Key extends string> = Key extends `${infer Name}.other` ? Name : never

const texts: Readonly<Record<Language, Readonly<Record<string, string>>>> = { en, fr }
const plurals = { en: new Intl.PluralRules('en'), fr: new Intl.PluralRules('fr') } as const

/** Returns a text with its values in place; `count` chooses the form. */
export type Translate = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string

export const translator =
  (language: Language): Translate =>
  (key, values = {}) => {
    const known = texts[language]
    const count = values['count']
    const text =
      known[key] ?? known[`${key}.${plurals[language].select(Number(count))}`] ?? known[`${key}.other`] ?? key
    return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
  }

/** Returns the English texts whose names begin so. */
export const textsWith = (start: string): (readonly [key: TextKey, text: string])[] =>
  Object.entries(en)
    .filter(([key]) => key.startsWith(start))
    .map(([key, text]) => [key as TextKey, text] as const)

export const languageCookie = 'service_language'

/** Returns the language of a reader: the chosen one, else the first that the browser asks for and the portal has. */
export function languageOf(headers: { readonly cookie?: string; readonly 'accept-language'?: string }): Language {
  const chosen = new RegExp(`(?:^|;)\\s*${languageCookie}=(\\w+)`).exec(headers.cookie ?? '')?.[1]
  const asked = (headers['accept-language'] ?? '').split(',').map(each => each.trim().slice(0, 2).toLowerCase())
  return [chosen, ...asked].find((each): each is Language => languages.some(known => known === each)) ?? 'en'
}
