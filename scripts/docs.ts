import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { renderRoleDocs } from "../src/domain/role/render/docs.ts";
import { renderDocs } from "../src/surfaces/cli/docs.ts";
import { tree } from "../src/surfaces/cli/tree.ts";

/** Writes docs/cli.md from the command tree and docs/roles.md from the roles; tests compare them. */
writeFileSync(resolve(import.meta.dir, "../docs/cli.md"), renderDocs(tree));
writeFileSync(resolve(import.meta.dir, "../docs/roles.md"), renderRoleDocs());
