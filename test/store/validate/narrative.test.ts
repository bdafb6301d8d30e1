import { patient, table } from './table.ts'

const div = (inner: string) => patient({ text: { status: 'generated', div: inner } })

table('narrative', [
  [
    'plain formatting is fine',
    div('<div xmlns="http://www.w3.org/1999/xhtml"><!-- a --><p class="x">A &amp; B<br/><a href="#a">b</a></p></div>'),
  ],
  ['a narrative is a div', div('<p>a</p>'), ['value', 'Patient.text.div', '`div` does not begin with <div']],
  ['a narrative says something', div('<div> <p/> </div>'), ['value', 'Patient.text.div', '`div` has no content']],
  ['a picture is content', div('<div><img src="a.png" alt="a"/></div>')],
  [
    'no scripts',
    div('<div>a<script>alert(1)</script></div>'),
    ['value', 'Patient.text.div', '`div` has the element <script>, which a narrative may not have'],
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
    ['value', 'Patient.text.div', '`div` has a </b> out of place'],
  ],
  ['tags are closed', div('<div><p>a'), ['value', 'Patient.text.div', '`div` has a <p> that is not closed']],
  ['there is one div', div('<div>a</div>b<p>c</p>'), ['value', 'Patient.text.div', '`div` has text after its </div>']],
])
