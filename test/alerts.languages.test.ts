// deploy/prometheus/alerts.yaml: promtool accepts the alerts and fires each.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { parse } from "yaml";
import { findPromtool } from "./support/find-promtool.ts";
import { blockTitled, read, root } from "./support/pages.ts";

const alerts = "deploy/prometheus/alerts.yaml";
const page = "docs/operate/monitoring.md";
const { groups } = parse(read(alerts)) as {
  readonly groups: readonly { readonly rules: readonly { alert: string; expr: string }[] }[];
};
const rules = groups.flatMap((group) => group.rules);

const promtool = findPromtool();

suite("promtool", { skip: promtool === undefined && "there is no promtool here" }, () => {
  const succeeds = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(promtool ?? "", args, {
      cwd: root,
      encoding: "utf8",
    });
    assert.equal(status, 0, `${stdout}${stderr}`);
  };

  test("accepts the alerts", () => succeeds("check", "rules", alerts));

  test("fires each of them for its reason, and none on a healthy server", () => {
    const fixture = "test/fixtures/alerts.yaml";
    succeeds("test", "rules", fixture);
    for (const { alert } of rules) {
      assert.ok(readFileSync(join(root, fixture), "utf8").includes(`alertname="${alert}"`), alert);
    }
  });

  test(`accepts the configurations of ${page}`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), "halyard-prometheus-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    copyFileSync(join(root, alerts), join(folder, "alerts.yaml"));
    const token = join(folder, "token");
    writeFileSync(token, "token");
    const config = blockTitled(page, "prometheus.yml").replace(
      "/etc/prometheus/halyard-token",
      token,
    );
    // Debian's build knows no kubernetes_sd_configs: the targets stay, and what follows them is that of Kubernetes.
    const [discovery = "", relabeling = ""] = blockTitled(page, "kubernetes").split(
      /^(?=relabel_configs:)/m,
    );
    assert.deepEqual(parse(discovery), { kubernetes_sd_configs: [{ role: "pod" }] });
    const ofPods = config + relabeling.replace(/^(?=.)/gm, "    ");
    for (const text of [config, ofPods]) {
      const file = join(folder, "prometheus.yml");
      writeFileSync(file, text);
      succeeds("check", "config", file);
    }
  });
});
