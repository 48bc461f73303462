import { type Case, edit, refuse } from "./case.ts";

const guide = `# Guide

Welcome.

## Install

Run the installer.

- linux
- mac

## Use

| flag | meaning |
| ---- | ------- |
| -a   | all     |

## License

MIT

[home]: https://example.org
`;
const install = "Run the installer.\n\n- linux\n- mac";
const use = "| flag | meaning |\n| ---- | ------- |\n| -a   | all     |";
const license = "MIT\n\n[home]: https://example.org";

const changes = `# Changelog

## Unreleased

### Added

- first

## 1.0.0

- start
`;

const matter = `---
title: Guide
tags: [a]
---

# Guide

Text.
`;

const on = (base: string, ...pairs: readonly (readonly [string, string])[]): string => edit(base, ...pairs);

export const markdownCases: readonly Case[] = [
  {
    name: "both add a section at the same place",
    path: "docs/guide.md",
    base: guide,
    ours: on(guide, ["## License", "## Update\n\nAgain.\n\n## License"]),
    theirs: on(guide, ["## License", "## Remove\n\nDelete it.\n\n## License"]),
    expect: [
      ["# Guide", "Welcome."],
      ["## Install", install],
      ["## Use", use],
      ["## Update", "Again."],
      ["## Remove", "Delete it."],
      ["## License", license],
    ],
  },
  {
    name: "both append a section to the end",
    path: "README.md",
    base: guide,
    ours: `${guide}\n## Thanks\n\nAnn.\n`,
    theirs: `${guide}\n## Contact\n\nBob.\n`,
    expect: [
      ["# Guide", "Welcome."],
      ["## Install", install],
      ["## Use", use],
      ["## License", license],
      ["## Thanks", "Ann."],
      ["## Contact", "Bob."],
    ],
  },
  {
    name: "both append to one bullet list",
    path: "README.md",
    base: guide,
    ours: on(guide, ["- mac\n", "- mac\n- windows\n"]),
    theirs: on(guide, ["- mac\n", "- mac\n- bsd\n"]),
    expect: [
      ["# Guide", "Welcome."],
      ["## Install", `${install}\n- windows\n- bsd`],
      ["## Use", use],
      ["## License", license],
    ],
  },
  {
    name: "both append the same bullet and one more",
    path: "README.md",
    base: guide,
    ours: on(guide, ["- mac\n", "- mac\n- windows\n"]),
    theirs: on(guide, ["- mac\n", "- mac\n- windows\n- bsd\n"]),
    expect: [
      ["# Guide", "Welcome."],
      ["## Install", `${install}\n- windows\n- bsd`],
      ["## Use", use],
      ["## License", license],
    ],
  },
  {
    name: "both append a table row",
    path: "README.md",
    base: guide,
    ours: on(guide, ["| -a   | all     |\n", "| -a   | all     |\n| -b   | both    |\n"]),
    theirs: on(guide, ["| -a   | all     |\n", "| -a   | all     |\n| -c   | count   |\n"]),
    expect: [
      ["# Guide", "Welcome."],
      ["## Install", install],
      ["## Use", `${use}\n| -b   | both    |\n| -c   | count   |`],
      ["## License", license],
    ],
  },
  {
    name: "both append a table row of the same name",
    path: "README.md",
    base: guide,
    ours: on(guide, ["| -a   | all     |\n", "| -a   | all     |\n| -b   | both    |\n"]),
    theirs: on(guide, ["| -a   | all     |\n", "| -a   | all     |\n| -b   | better  |\n"]),
    expect: refuse,
  },
  {
    name: "both change one sentence",
    path: "README.md",
    base: guide,
    ours: on(guide, ["Welcome.", "Welcome, all."]),
    theirs: on(guide, ["Welcome.", "Hello."]),
    expect: refuse,
  },
  {
    name: "both add a paragraph at the same place",
    path: "README.md",
    base: guide,
    ours: on(guide, ["Welcome.\n", "Welcome.\n\nRead on.\n"]),
    theirs: on(guide, ["Welcome.\n", "Welcome.\n\nStop here.\n"]),
    expect: refuse,
  },
  {
    name: "one side deletes the section the other changes",
    path: "README.md",
    base: guide,
    ours: on(guide, [`## Install\n\n${install}\n\n`, ""]),
    theirs: on(guide, ["the installer", "our installer"]),
    expect: refuse,
  },
  {
    name: "one side deletes a section, the other adds one after it",
    path: "README.md",
    base: guide,
    ours: on(guide, [`## Install\n\n${install}\n\n`, ""]),
    theirs: on(guide, ["## Use", "## Update\n\nAgain.\n\n## Use"], ["Welcome.", "Hello."]),
    expect: [
      ["# Guide", "Hello."],
      ["## Update", "Again."],
      ["## Use", use],
      ["## License", license],
    ],
  },
  {
    name: "both rename one heading",
    path: "README.md",
    base: guide,
    ours: on(guide, ["## Install", "## Installation"]),
    theirs: on(guide, ["## Install", "## Setup"]),
    expect: refuse,
  },
  {
    name: "one side edits the end of a section, the other adds one after it",
    path: "README.md",
    base: guide,
    ours: on(guide, ["MIT\n\n[home]: https://example.org\n", "MIT\n\n[home]: https://example.com\n"]),
    theirs: `${guide}\n## Contact\n\nBob.\n`,
    expect: [
      ["# Guide", "Welcome."],
      ["## Install", install],
      ["## Use", use],
      ["## License", "MIT\n\n[home]: https://example.com"],
      ["## Contact", "Bob."],
    ],
  },
  {
    name: "both define a link",
    path: "README.md",
    base: guide,
    ours: `${guide}[a]: https://a.example\n`,
    theirs: `${guide}[b]: https://b.example\n`,
    expect: [
      ["# Guide", "Welcome."],
      ["## Install", install],
      ["## Use", use],
      ["## License", `${license}\n[a]: https://a.example\n[b]: https://b.example`],
    ],
  },
  {
    name: "both define one link differently",
    path: "README.md",
    base: guide,
    ours: `${guide}[a]: https://a.example\n`,
    theirs: `${guide}[A]: https://b.example\n`,
    expect: refuse,
  },
  {
    name: "both append to a numbered list",
    path: "README.md",
    base: "# A\n\n1. one\n2. two\n",
    ours: "# A\n\n1. one\n2. two\n3. three\n",
    theirs: "# A\n\n1. one\n2. two\n3. drei\n",
    expect: refuse,
  },
  {
    name: "both add the same heading with other text",
    path: "README.md",
    base: guide,
    ours: `${guide}\n## Contact\n\nAnn.\n`,
    theirs: `${guide}\n## Contact\n\nBob.\n`,
    expect: refuse,
  },
  {
    name: "both add the same heading at different places",
    path: "README.md",
    base: guide,
    ours: on(guide, ["## Install", "## Contact\n\nAnn.\n\n## Install"]),
    theirs: `${guide}\n## Contact\n\nBob.\n`,
    expect: refuse,
  },
  {
    name: "a comment in a code block is no heading",
    path: "README.md",
    base: "# A\n\n```sh\n# run\na\n```\n",
    ours: "# A\n\n```sh\n# run\na\nb\n```\n",
    theirs: "# A\n\n```sh\n# run\na\nc\n```\n",
    expect: refuse,
  },
  {
    name: "underlined headings",
    path: "README.md",
    base: "Guide\n=====\n\nText.\n\nUse\n---\n\nSo.\n",
    ours: "Guide\n=====\n\nText.\n\nUse\n---\n\nSo.\n\nMore\n----\n\nYes.\n",
    theirs: "Guide\n=====\n\nText.\n\nUse\n---\n\nSo.\n\nLess\n----\n\nNo.\n",
    expect: [
      ["# Guide", "Text."],
      ["## Use", "So."],
      ["## More", "Yes."],
      ["## Less", "No."],
    ],
  },
  {
    name: "front matter changed at different keys",
    path: "post.md",
    base: matter,
    ours: on(matter, ["tags: [a]\n", "tags: [a]\ndate: today\n"]),
    theirs: on(matter, ["tags: [a]\n", "tags: [a]\nauthor: Ann\n"]),
    expect: [
      ["", "---\ntitle: Guide\ntags: [a]\ndate: today\nauthor: Ann\n---"],
      ["# Guide", "Text."],
    ],
  },
  {
    name: "front matter changed at the same key",
    path: "post.md",
    base: matter,
    ours: on(matter, ["title: Guide", "title: The Guide"]),
    theirs: on(matter, ["title: Guide", "title: A Guide"]),
    expect: refuse,
  },
  {
    name: "headings that repeat are text",
    path: "README.md",
    base: "# A\n\n## x\n\n1\n\n## x\n\n2\n",
    ours: "# A\n\n## x\n\n1\n\n## x\n\n2\n\n## y\n\n3\n",
    theirs: "# A\n\n## x\n\n1\n\n## x\n\n2\n\n## z\n\n4\n",
    expect: refuse,
  },
  {
    name: "one side renames a heading, the other changes its text",
    path: "README.md",
    base: guide,
    ours: on(guide, ["## Install", "## Setup"]),
    theirs: on(guide, ["the installer", "our installer"]),
    expect: [
      ["# Guide", "Welcome."],
      ["## Setup", edit(install, ["the installer", "our installer"])],
      ["## Use", use],
      ["## License", license],
    ],
  },
  {
    name: "one side releases what the other adds to",
    path: "CHANGELOG.md",
    base: "# Changelog\n\n## Unreleased\n\n- a\n",
    ours: "# Changelog\n\n## Unreleased\n\n## 1.0.0\n\n- a\n",
    theirs: "# Changelog\n\n## Unreleased\n\n- a\n- b\n",
    expect: refuse,
  },
  {
    name: "bullets under one heading of a changelog",
    path: "CHANGELOG.md",
    base: changes,
    ours: on(changes, ["- first\n", "- ours\n- first\n"]),
    theirs: on(changes, ["- first\n", "- theirs\n- first\n"]),
    expect: [
      ["# Changelog", ""],
      ["## Unreleased", ""],
      ["### Added", "- ours\n- theirs\n- first"],
      ["## 1.0.0", "- start"],
    ],
  },
  {
    name: "both open the same heading of a changelog",
    path: "CHANGELOG.md",
    base: changes,
    ours: on(changes, ["- first\n", "- first\n\n### Fixed\n\n- ours\n"]),
    theirs: on(changes, ["- first\n", "- first\n\n### Fixed\n\n- theirs\n"]),
    expect: [
      ["# Changelog", ""],
      ["## Unreleased", ""],
      ["### Added", "- first"],
      ["### Fixed", "- ours\n- theirs"],
      ["## 1.0.0", "- start"],
    ],
  },
  {
    name: "both change one bullet of a changelog",
    path: "CHANGELOG.md",
    base: changes,
    ours: on(changes, ["- first", "- ours first"]),
    theirs: on(changes, ["- first", "- their first"]),
    expect: refuse,
  },
  {
    name: "both release a version",
    path: "CHANGELOG.md",
    base: changes,
    ours: on(changes, ["## 1.0.0", "## 1.1.0\n\n- a\n\n## 1.0.0"]),
    theirs: on(changes, ["## 1.0.0", "## 1.2.0\n\n- b\n\n## 1.0.0"]),
    expect: refuse,
  },
  ...(["ours", "theirs"] as const).map((doubler) => ({
    name: `${doubler} add an item twice that the other side adds once`,
    path: "CHANGELOG.md",
    base: changes,
    ours: on(changes, ["- first", `- first\n- new${doubler === "ours" ? "\n- new" : ""}`]),
    theirs: on(changes, ["- first", `- first\n- new${doubler === "theirs" ? "\n- new" : ""}`]),
    expect: refuse,
  })),
];
