import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { tree } from "../src/surfaces/cli/tree.ts";
import { renderDocs } from "../testkit/cli-reference.ts";
import { renderConfigDocs } from "../testkit/configuration-reference.ts";
import { renderRuntimesPage } from "../testkit/conformance/page.ts";
import { renderRoleDocs } from "../testkit/roles-reference.ts";

/** Writes the pages that are made from the command tree, the roles, the table of keys and the kit's results; tests compare them. */
writeFileSync(resolve(import.meta.dir, "../docs/cli.md"), renderDocs(tree));
writeFileSync(resolve(import.meta.dir, "../docs/roles.md"), renderRoleDocs());
writeFileSync(resolve(import.meta.dir, "../docs/configuration.md"), renderConfigDocs());
writeFileSync(resolve(import.meta.dir, "../docs/runtimes.md"), renderRuntimesPage());
