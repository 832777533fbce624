// Every evaluation is one request to Halyard. A key of the role client is enough.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
)

func main() {
	url := cmp.Or(os.Getenv("HALYARD_URL"), "http://127.0.0.1:4400")
	provider := ofrep.NewProvider(url,
		ofrep.WithBearerToken(os.Getenv("HALYARD_API_KEY")), ofrep.WithTimeout(2*time.Second))
	if err := openfeature.SetProviderAndWait(provider); err != nil {
		log.Fatal(err)
	}
	client := openfeature.NewClient("checkout")

	user := openfeature.NewEvaluationContext("user-42", map[string]any{"plan": "pro"})
	isNew, err := client.BooleanValue(context.Background(), "new-checkout", false, user)
	if err != nil {
		// isNew is the default.
		log.Print(err)
	}
	if isNew {
		fmt.Println("the new checkout")
	} else {
		fmt.Println("the old checkout")
	}
}
