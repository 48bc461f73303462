import type { Triple } from "./triple.ts";

const card = `import { useState } from "react";

interface Props {
  title: string;
}

export function Card({ title }: Props) {
  const [open, setOpen] = useState(false);

  return (
    <div className="card">
      <h1>{title}</h1>
      <p>text</p>
    </div>
  );
}
`;
const react = {};

export const jsx: readonly Triple[] = [
  {
    name: "both add a prop",
    path: "x.tsx",
    verdict: "merge",
    base: card,
    files: react,
    ours: [
      [`  title: string;\n`, `  title: string;\n  subtitle?: string;\n`],
      [`{ title }: Props`, `{ title, subtitle }: Props`],
      [`      <p>text</p>\n`, `      <p>text</p>\n      <h2>{subtitle}</h2>\n`],
    ],
    theirs: [
      [`  title: string;\n`, `  title: string;\n  onClose?: () => void;\n`],
      [`{ title }: Props`, `{ title, onClose }: Props`],
      [`<h1>{title}</h1>`, `<h1 onClick={onClose}>{title}</h1>`],
    ],
    once: ["subtitle?: string;", "onClose?: () => void;", "<h2>{subtitle}</h2>", "onClick={onClose}"],
  },
  {
    name: "both add an attribute to one element",
    path: "x.tsx",
    verdict: "either",
    base: card,
    ours: [[`className="card"`, `className="card" id="c"`]],
    theirs: [[`className="card"`, `className="card" role="region"`]],
    once: [`id="c"`, `role="region"`, `className="card"`],
  },
  {
    name: "both give one attribute different values",
    path: "x.tsx",
    verdict: "refuse",
    base: card,
    ours: [[`className="card"`, `className="card wide"`]],
    theirs: [[`className="card"`, `className="card tall"`]],
  },
  {
    name: "both add the same attribute with different values",
    path: "x.tsx",
    verdict: "refuse",
    base: card,
    ours: [[`<p>text`, `<p id="a">text`]],
    theirs: [[`<p>text`, `<p id="b">text`]],
  },
  {
    name: "one wraps the children, the other adds a child",
    path: "x.tsx",
    verdict: "either",
    base: card,
    ours: [
      [
        `      <h1>{title}</h1>\n      <p>text</p>\n`,
        `      <section>\n        <h1>{title}</h1>\n        <p>text</p>\n      </section>\n`,
      ],
    ],
    theirs: [[`      <p>text</p>\n`, `      <p>text</p>\n      <b>more</b>\n`]],
    once: ["<section>", "<b>more</b>", "<p>text</p>"],
  },
  {
    name: "both add a child at the same place",
    path: "x.tsx",
    verdict: "either",
    base: card,
    ours: [[`      <p>text</p>\n`, `      <p>text</p>\n      <i>one</i>\n`]],
    theirs: [[`      <p>text</p>\n`, `      <p>text</p>\n      <b>two</b>\n`]],
    once: ["<i>one</i>", "<b>two</b>"],
  },
  {
    name: "both add a state hook",
    path: "x.tsx",
    verdict: "either",
    base: card,
    ours: [[`useState(false);\n`, `useState(false);\n  const [count, setCount] = useState(0);\n`]],
    theirs: [[`useState(false);\n`, `useState(false);\n  const [name, setName] = useState("");\n`]],
    once: ["[count, setCount]", "[name, setName]", "[open, setOpen]"],
  },
  {
    name: "both add a hook of the same name",
    path: "x.tsx",
    verdict: "refuse",
    base: card,
    ours: [[`useState(false);\n`, `useState(false);\n  const [count, setCount] = useState(0);\n`]],
    theirs: [[`  const [open,`, `  const [count, setCount] = useState(1);\n  const [open,`]],
  },
  {
    name: "one renames a component, the other renders it again",
    path: "x.tsx",
    verdict: "refuse",
    base: `function Row() {\n  return <tr />;\n}\n\nexport function A() {\n  return <Row />;\n}\n\nexport function B() {\n  return <table />;\n}\n`,
    ours: [
      [`function Row`, `function Line`],
      [`<Row />`, `<Line />`],
    ],
    theirs: [[`<table />`, `<table><Row /></table>`]],
  },
  {
    name: "one renames a prop and its uses, the other renders with the old one",
    path: "x.tsx",
    verdict: "refuse",
    base: `function Row({ text }: { text: string }) {\n  return <tr title={text} />;\n}\n\nexport function A() {\n  return <Row text="a" />;\n}\n\nexport function B() {\n  return <table />;\n}\n`,
    ours: [
      [`({ text }: { text: string })`, `({ label }: { label: string })`],
      [`title={text}`, `title={label}`],
      [`<Row text="a" />`, `<Row label="a" />`],
    ],
    theirs: [[`<table />`, `<table><Row text="b" /></table>`]],
  },
  {
    name: "both extend the dependencies of an effect",
    path: "x.tsx",
    verdict: "either",
    base: `export function A({ a, b, c }: any) {\n  useEffect(() => {\n    go(a);\n  }, [a]);\n  return null;\n}\n`,
    ours: [[`[a]`, `[a, b]`]],
    theirs: [[`[a]`, `[a, c]`]],
    once: ["[a, b, c]"],
  },
  {
    name: "one edits the text of an element, the other adds an element after it",
    path: "x.tsx",
    verdict: "merge",
    base: card,
    ours: [[`<h1>{title}</h1>`, `<h1>The {title}</h1>`]],
    theirs: [[`      <p>text</p>\n`, `      <p>text</p>\n      <b>more</b>\n`]],
    once: ["<h1>The {title}</h1>", "<b>more</b>"],
  },
  {
    name: "both append a component and an import",
    path: "x.tsx",
    verdict: "merge",
    base: `import { A } from "./a";\n\nexport function One() {\n  return <A />;\n}\n`,
    ours: [
      [`"./a";\n`, `"./a";\nimport { B } from "./b";\n`],
      ["", `\nexport function Two() {\n  return <B />;\n}\n`],
    ],
    theirs: [
      [`"./a";\n`, `"./a";\nimport { C } from "./c";\n`],
      ["", `\nexport function Three() {\n  return <C />;\n}\n`],
    ],
    once: ["return <B />", "return <C />", `from "./b"`, `from "./c"`],
  },
  {
    name: "one deletes an element, the other edits it",
    path: "x.tsx",
    verdict: "refuse",
    base: card,
    ours: [[`      <p>text</p>\n`, ``]],
    theirs: [[`<p>text</p>`, `<p>better text</p>`]],
  },
  {
    name: "one makes an element conditional, the other adds an attribute to it",
    path: "x.tsx",
    verdict: "either",
    base: card,
    ours: [[`<p>text</p>`, `{open && <p>text</p>}`]],
    theirs: [[`<p>text</p>`, `<p id="t">text</p>`]],
    once: [`{open && <p id="t">text</p>}`],
  },
];
