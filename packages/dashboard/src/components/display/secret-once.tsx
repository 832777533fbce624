// A secret that the server returns only once, to be copied now.
import { Text } from "@mantine/core";
import "../../styles/parts/secret-once.css";
import { CopyButton } from "./copy-button.tsx";
import { Icon } from "./icon.tsx";

interface SecretOnceProps {
  /** What it is, such as "secret". */
  readonly what: string;
  readonly text: string;
  /** Where to store it, in a sentence. */
  readonly advice: string;
}

export const SecretOnce = ({ what, text, advice }: SecretOnceProps) => (
  <div className="secret-once">
    <div className="secret-once-warning">
      <Icon name="warning" />
      <div>
        <strong>Shown only once</strong>
        <Text size="sm">
          Halyard cannot show the {what} again. {advice}
        </Text>
      </div>
    </div>
    <div className="secret-once-line">
      <code className="mono secret-once-text">{text}</code>
      <CopyButton text={text} what={what} wide />
    </div>
  </div>
);
