import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { renderDocs } from "../src/surfaces/cli/docs.ts";
import { tree } from "../src/surfaces/cli/tree.ts";

/** Writes docs/cli.md from the command tree; a test compares the two. */
writeFileSync(resolve(import.meta.dir, "../docs/cli.md"), renderDocs(tree));
