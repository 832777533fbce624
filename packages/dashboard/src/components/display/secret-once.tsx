// A text that the server tells this once: to be copied now, for it cannot be asked for again.
import { Text } from "@mantine/core";
import "../../styles/secret-once.css";
import { CopyButton } from "./copy-button.tsx";
import { Icon } from "./icon.tsx";

interface SecretOnceProps {
  /** What it is, such as "the secret". */
  readonly what: string;
  readonly text: string;
  /** Where it belongs, in a sentence. */
  readonly advice: string;
}

export const SecretOnce = ({ what, text, advice }: SecretOnceProps) => (
  <div className="secret-once">
    <div className="secret-once-warning">
      <Icon name="warning" />
      <div>
        <strong>Shown this once</strong>
        <Text size="sm">
          Halyard cannot show {what} again. {advice}
        </Text>
      </div>
    </div>
    <div className="secret-once-line">
      <code className="mono secret-once-text">{text}</code>
      <CopyButton text={text} what={what} wide />
    </div>
  </div>
);
