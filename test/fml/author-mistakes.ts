// Typical mistakes of those who write maps: a sound map from AllergyRecord to AllergyIntolerance, with one slip each.

const header = `/// url = 'https://clinic.example/allergy'
/// name = 'Allergy'

conceptmap "criticality" {
  prefix s = "https://clinic.example/severity"
  prefix t = "http://hl7.org/fhir/allergy-intolerance-criticality"

  s:mild - t:low
  s:moderate - t:low
  s:severe - t:high
  s:"life_threatening" - t:high
}

uses "https://health-interop.org/fhir/StructureDefinition/AllergyRecord" alias AllergyRecord as source
uses "http://hl7.org/fhir/StructureDefinition/AllergyIntolerance" alias AllergyIntolerance as target

group Allergy(source src : AllergyRecord, target tgt : AllergyIntolerance) {
`
const uses = 'uses "https://health-interop.org/fhir/StructureDefinition/AllergyRecord" alias AllergyRecord as source\n'
const patient = "  src.patient_id as id -> tgt.patient as p, p.reference = append('Patient/', id);\n"

export interface Mistake {
  readonly title: string
  /** What is worth reading of the map. */
  readonly shown: string
  readonly text: string
  /** How many things are said; default: one. */
  readonly count?: number
}

/** Rules of the group, among rules that are right. */
function rule(title: string, rules: string, before = '', count = 1): Mistake {
  const text = `${header.replace('uses "https', `${before}uses "https`)}${patient}  ${rules.replaceAll('\n', '\n  ')}\n}\n`
  return { title, shown: before + rules, text, count }
}

/** A map of its own, behind the line that names AllergyRecord where it speaks of that. */
function whole(title: string, text: string, count = 1): Mistake {
  const isBare = text.includes(': AllergyRecord') && !text.includes('alias AllergyRecord')
  return { title, shown: text.trimEnd(), text: isBare ? `${uses}${text}` : text, count }
}

function changed(title: string, from: string, to: string): Mistake {
  const text = `${header}${patient}}\n`
  if (!text.includes(from)) throw new Error(`${title}: there is no ${from}`)
  return { title, shown: to, text: text.replace(from, to) }
}

export const mistakes: readonly Mistake[] = [
  rule('An element of the record is misspelt', 'src.sustance as s -> tgt.code = cc(s);'),
  rule('An element of the resource is misspelt', 'src.created_at -> tgt.recordedDat;'),
  rule('An element is nothing like any there is', 'src.substance as s -> tgt.allergen = s;'),
  rule('An element of a datatype is misspelt', 'src.substance as s -> tgt.code as c, c.txt = s;'),
  rule(
    'An element within an expression is misspelt',
    'src -> tgt.code = cc(src.substance), tgt.id = (src.idd.lower());',
  ),
  rule('An element within a condition is misspelt', "src where statuss = 'active' -> tgt.type = 'allergy';"),
  rule(
    'An element of FHIR has its JSON name where R4 has another',
    'src.substance as s -> tgt.allergyIntoleranceCode = cc(s);',
  ),
  rule('A variable is misspelt', 'src.substance as substance -> tgt.code = cc(substanse);'),
  rule('A variable is used outside of its rule', 'src.substance as s -> tgt.code = cc(s);\nsrc -> tgt.id = s;'),
  rule('A parameter of the group is misspelt', 'scr.substance as s -> tgt.code = cc(s);'),
  rule('A target parameter is misspelt', 'src.substance as s -> target.code = cc(s);'),
  rule('A text has no quotation marks', 'src -> tgt.type = allergy;'),
  rule('A code has double quotation marks within single ones', `src -> tgt.type = '"allergy"';`),
  changed('A type is misspelt', 'target tgt : AllergyIntolerance', 'target tgt : AllergyIntolerence'),
  changed(
    'The address of a structure is misspelt',
    'StructureDefinition/AllergyIntolerance',
    'StructureDefinition/AlergyIntolerance',
  ),
  changed(
    'The structures that the map uses are not named',
    'uses "https://health-interop.org/fhir/StructureDefinition/AllergyRecord" alias AllergyRecord as source\n',
    '',
  ),
  rule(
    'A group is misspelt',
    "src -> tgt then Severty(src, tgt);\n}\n\ngroup Severity(source src, target tgt) {\n  src.severity as v -> tgt.criticality = translate(v, '#criticality', 'code');",
  ),
  rule(
    'A group is called with too few parameters',
    "src -> tgt then Status(src);\n}\n\ngroup Status(source src, target tgt) {\n  src -> tgt.type = 'allergy';",
  ),
  rule(
    'A group is called with source and target swapped',
    "src -> tgt then Status(tgt, src);\n}\n\ngroup Status(source src, target tgt) {\n  src -> tgt.type = 'allergy';",
  ),
  rule(
    'A group is called with another type than it is for',
    'src -> tgt.note as n then Note(src, n);\n}\n\ngroup Note(source src : Patient, target n : Annotation) {\n  src.id as id -> n.text = id;',
  ),
  whole(
    'Two groups have the same name',
    "group A(source s : AllergyRecord, target t : Basic) {\n  s -> t.code = cc('x');\n}\n\ngroup A(source s : AllergyRecord, target t : Basic) {\n  s -> t.code = cc('y');\n}\n",
  ),
  rule('A transform is misspelt', 'src.substance as s -> tgt.code = ccc(s);'),
  rule('A transform does not exist', 'src.substance as s -> tgt.code = codeableconcept(s);'),
  rule('A transform has too few values', 'src.substance as s -> tgt.id = truncate(s);'),
  rule(
    'A transform has too many values',
    "src.substance as s -> tgt.code = cc('http://snomed.info/sct', s, 'Peanut', 'en');",
  ),
  rule('A function of FHIRPath is misspelt', 'src.substance as s -> tgt.code = cc(s.uper());'),
  rule('A concept map is misspelt', "src.severity as v -> tgt.criticality = translate(v, '#criticalty', 'code');"),
  rule(
    'What a translation gives is misspelt',
    "src.severity as v -> tgt.criticality = translate(v, '#criticality', 'codes');",
  ),
  rule(
    'A concept map does not have all codes',
    "src.status as v -> tgt.clinicalStatus = translate(v, '#status', 'CodeableConcept');",
    'conceptmap "status" {\n  prefix s = "https://clinic.example/status"\n  prefix t = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"\n\n  s:active == t:active\n  s:resolved == t:resolved\n}\n\n',
  ),
  changed('A concept map has a code twice', '  s:severe - t:high\n', '  s:severe - t:high\n  s:severe - t:low\n'),
  rule(
    'Two concept maps have the same name',
    "src.severity as v -> tgt.criticality = translate(v, '#criticality', 'code');",
    'conceptmap "criticality" {\n  prefix s = "https://clinic.example/severity"\n  prefix t = "http://hl7.org/fhir/allergy-intolerance-criticality"\n\n  s:mild - t:high\n  s:moderate - t:high\n  s:severe - t:low\n  s:"life_threatening" - t:low\n}\n\n',
  ),
  rule(
    'A concept map gives codes that the element does not have',
    "src.severity as v -> tgt.criticality = translate(v, '#worst', 'code');",
    'conceptmap "worst" {\n  prefix s = "https://clinic.example/severity"\n  prefix t = "https://clinic.example/criticality"\n  unmapped for s = provided\n\n  s:severe == t:deadly\n}\n\n',
    2,
  ),
  rule('A code is not among those of the element', "src -> tgt.type = 'allergie';"),
  rule('Codes are copied that the element does not have', 'src.severity -> tgt.criticality;'),
  rule(
    'A condition asks for a code that the record cannot have',
    "src.severity as v where v = 'life-threatening' -> tgt.criticality = 'high';",
  ),
  rule('Text goes where FHIR has a CodeableConcept', 'src.substance as s -> tgt.code = s;'),
  rule('Text goes where FHIR has a Reference', 'src.provider_id as id -> tgt.recorder = id;'),
  rule('A truth value goes where FHIR has a date', 'src -> tgt.recordedDate = true;'),
  rule('A text that is no date goes where FHIR has a date', "src -> tgt.recordedDate = '1 March 2024';"),
  rule('An object goes where FHIR has a text', 'src -> tgt.id = src;'),
  rule('A choice of types is not said', 'src.created_at as t -> tgt.onset as o, o.value = t;'),
  rule('A choice cannot have this type', "src -> tgt.onset = create('Quantity') as q, q.value = 3;"),
  rule('A choice is given two types in one rule', "src.created_at as t -> tgt.onset = t, tgt.onset = 'childhood';"),
  rule('A choice is written as in the specification', 'src.created_at as t -> tgt.onset[x] = t;'),
  whole(
    'A list goes into a single element',
    'group A(source src : AllergyIntolerance, target tgt : Basic) {\n  src.note as note -> tgt.code = cc(note.text);\n}\n',
  ),
  rule('An element within a list is set without saying which item', "src -> tgt.reaction.description = 'hives';"),
  whole(
    'A required element is missing',
    'uses "http://hl7.org/fhir/StructureDefinition/Observation" alias Observation as target\n\ngroup A(source src : AllergyRecord, target tgt : Observation) {\n  src -> tgt.code = cc(src.substance);\n}\n',
  ),
  rule('A required element of a part is missing', "src -> tgt.reaction as r, r.description = 'hives';"),
  rule('A source is written to', "src -> src.status = 'active';"),
  rule('A target without an element does nothing', 'src.substance as s -> tgt;'),
  rule('What is made is never filled', 'src.substance as s -> tgt.code as c;'),
  rule('A value goes nowhere', 'src -> uuid();'),
  rule(
    'A variable hides an element',
    "src.status as substance -> tgt.code = cc(src.substance) then {\n  src where substance = 'Peanut' -> tgt.type = 'allergy';\n};",
  ),
  rule('A rule can never fire: the type', 'src.substance : Quantity as q -> tgt.id = (q.value.toString());'),
  rule('A rule can never fire: the list mode', 'src.substance not_first as s -> tgt.code = cc(s);'),
  rule('A constant is defined by itself', 'src -> tgt.id = base;', "let base = other & '/x';\nlet other = base;\n\n"),
  rule('A default has the wrong type', 'src.created_at default (true) as t -> tgt.recordedDate = t;'),
  rule('A length is no number', "src.substance as s -> tgt.id = truncate(s, 'ten');"),
  rule('A type to cast to is misspelt', "src.created_at as t -> tgt.recordedDate = cast(t, 'datetime');"),
  whole(
    'An imported map is not there',
    'imports "https://clinic.example/Common"\n\ngroup A(source src : AllergyRecord, target tgt : Basic) {\n  src -> tgt.code = cc(src.substance) then Common(src, tgt);\n}\n',
    2,
  ),
  whole(
    'A default group has no types',
    'group A(source src : AllergyRecord, target tgt : Basic) {\n  src -> tgt.code = cc(src.substance);\n}\n\ngroup B(source s, target t) <<types>> {\n  s.x as v -> t.y = v;\n}\n',
  ),
  whole('A map has no group', "/// url = 'https://clinic.example/empty'\n"),
  whole(
    'The first group makes nothing',
    'group A(source src : AllergyRecord) {\n  src.substance as s then {\n    s as t;\n  };\n}\n',
  ),
]
