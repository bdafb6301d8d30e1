import { type Case, patient, table } from './table.ts'

const div = (inner: string) => patient({ text: { status: 'generated', div: inner } })

const xhtml = (inner: string) => `<div xmlns="http://www.w3.org/1999/xhtml">${inner}</div>`

table('narrative', [
  [
    'plain formatting is fine',
    div('<div xmlns="http://www.w3.org/1999/xhtml"><!-- a --><p class="x">A &amp; B<br/><a href="#a">b</a></p></div>'),
  ],
  ['a narrative is a div', div('<p>a</p>'), ['value', 'Patient.text.div', '`div` does not begin with <div']],
  ['a narrative says something', div('<div> <p/> </div>'), ['value', 'Patient.text.div', '`div` has no content']],
  ['a picture is content', div(xhtml('<img src="a.png" alt="a"/>'))],
  [
    'no scripts',
    div('<div>a<script>alert(1)</script></div>'),
    ['value', 'Patient.text.div', '`div` has the element <script>, which is not allowed in a narrative'],
  ],
  [
    'no event handlers, behind a quoted bracket either',
    div('<div title=">" onclick="a()">a</div>'),
    ['value', 'Patient.text.div', '`div` has the event handler onclick'],
  ],
  [
    'no unquoted attributes',
    div('<div><p onclick=a()>a</p></div>'),
    ['value', 'Patient.text.div', '`div` has markup that is not allowed: <p onclick=a()>a</p></div>'],
  ],
  [
    'no script URLs, written in any way',
    div('<div><a href="java&#115;cript:a()">a</a></div>'),
    ['value', 'Patient.text.div', '`div` has a script in href'],
  ],
  [
    'no entity definitions',
    div('<!DOCTYPE div [<!ENTITY a "b">]><div>&a;</div>'),
    ['value', 'Patient.text.div', '`div` does not begin with <div'],
  ],
  [
    'none within either',
    div('<div>a<!ENTITY a "b"></div>'),
    ['value', 'Patient.text.div', '`div` has markup that is not allowed: <!ENTITY a "b"></div>'],
  ],
  [
    'tags are closed in order',
    div('<div><b><i>a</b></i></div>'),
    ['value', 'Patient.text.div', '`div` has a misplaced </b>'],
  ],
  ['tags are closed', div('<div><p>a'), ['value', 'Patient.text.div', '`div` has an unclosed <p>']],
  ['there is one div', div('<div>a</div>b<p>c</p>'), ['value', 'Patient.text.div', '`div` has text after its </div>']],
  [
    'a div is one of XHTML',
    div('<div>a</div>'),
    ['value', 'Patient.text.div', '`div` has no xmlns="http://www.w3.org/1999/xhtml" in its <div>'],
  ],
  [
    'and so is all within it',
    div(xhtml('<p xmlns="http://www.w3.org/2000/svg">a</p>')),
    ['value', 'Patient.text.div', '`div` has an element of another namespace than http://www.w3.org/1999/xhtml'],
  ],
])

const wrong = (inner: string, problem: string): Case => [
  `it is well-formed XML: ${inner}`,
  div(xhtml(inner)),
  ['value', 'Patient.text.div', `\`div\` ${problem}`],
]
const entity = (name: string) =>
  `has the entity &${name};, which is not defined in XML: write the character itself or a numeric reference such as &#160;`

table('XML', [
  [
    'the five entities of XML and characters by number are fine',
    div(xhtml('&lt;&gt;&amp;&quot;&apos; &#160;&#xA0;&#x1F600; <b title="R&amp;D &#8211; &lt;x&gt;">a</b>')),
  ],
  wrong('3&nbsp;mg', entity('nbsp')),
  wrong('R & D', 'has an unescaped &: write &amp;'),
  wrong('R&D;', entity('D')),
  wrong('a &amp b', 'has an unescaped &: write &amp;'),
  wrong('<a href="x?a=1&b=2">a</a>', 'has an unescaped &: write &amp;'),
  wrong('<b title="&eacute;">a</b>', entity('eacute')),
  wrong('a&#0;b', 'has &#0;, which is not an XML character'),
  wrong('a&#xD800;b', 'has &#xD800;, which is not an XML character'),
  wrong('a ]]> b', 'has ]]> in its text: write ]]&gt;'),
  wrong('a<b class="x" class="y">b</b>', 'has the attribute class twice in one tag'),
  wrong('a<b data-x="y">b</b>', 'has the attribute data-x, which is not allowed in a narrative'),
  wrong('a<b>b</b class="x">', 'has markup that is not allowed: </b class="x">'),
  wrong('a<!-- b -- c -->', 'has markup that is not allowed: <!-- b -- c --></div>'),
  wrong('a<!--><b>-->', 'has markup that is not allowed: <!--><b>--></div>'),
])
